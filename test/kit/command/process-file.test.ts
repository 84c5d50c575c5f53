// The file with the command of the process: what is read of it, and what is refused.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readProcessFile } from '../../../kit/command/process-file.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const SETTING = 'svc.process.file';

function written(content: unknown): string {
  const file = join(temporaryFolder(), 'process.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

test('command and environment are read as they are', async () => {
  const content = { command: ['/bin/sh', '-c', 'a "b" $c', ''], env: { A: '', 'b.c': 'd=e\n' } };
  expect(await readProcessFile(written(content), SETTING)).toEqual({
    setting: SETTING,
    ...content,
  });
});

test('without an environment, it is empty', async () => {
  expect(await readProcessFile(written({ command: ['a'] }), SETTING)).toEqual({
    setting: SETTING,
    command: ['a'],
    env: {},
  });
});

test.each([
  ['no JSON', '{"command": ["a"', /it is no JSON:|it is no JSON\./],
  ['a list', '[]', /it is no JSON object/],
  ['null', 'null', /it is no JSON object/],
  ['no command', {}, /"command" is no list/],
  ['an empty command', { command: [] }, /"command" is no list/],
  ['a program without a name', { command: [''] }, /"command" is no list/],
  ['a command that is a text', { command: 'sh' }, /"command" is no list/],
  ['a number as an argument', { command: ['sh', 1] }, /"command" is no list/],
  ['an argument with NUL', { command: ['sh', 'a\0b'] }, /"command" is no list/],
  ['too many arguments', { command: Array(4097).fill('a') }, /"command" is no list of 1 to 4096/],
  ['a variable without a name', { command: ['a'], env: { '': 'x' } }, /"env" is no object/],
  ['a variable with =', { command: ['a'], env: { 'a=b': 'x' } }, /"env" is no object/],
  ['a variable that is a number', { command: ['a'], env: { a: 1 } }, /"env" is no object/],
  ['another member', { command: ['a'], cwd: '/' }, /it has a member beside/],
  ['1 MiB and more', { command: ['a'.repeat(1024 * 1024)] }, /more than 1048576 bytes/],
])('a file with %s is refused', async (_what, content, reason) => {
  await expect(readProcessFile(written(content), SETTING)).rejects.toMatchObject({
    code: 'SVC_SETTING_INVALID',
    message: expect.stringMatching(reason),
  });
});

test('no message has a path or a value of the file', async () => {
  const file = written({ command: ['secret'], env: { TOKEN: 1, OTHER: 'secret' } });
  const error = await readProcessFile(file, SETTING).then(String, String);
  expect(error).not.toMatch(/secret|TOKEN|svc-test/);
  expect(await readProcessFile(join(file, 'x'), SETTING).then(String, String)).not.toContain(file);
});

test.skipIf(process.platform === 'win32')(
  'what is no file is refused, also a pipe that nobody writes to',
  async () => {
    const folder = temporaryFolder();
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    mkdirSync(join(folder, 'folder'));
    for (const [name, reason] of [
      ['pipe', 'it is no file'],
      ['folder', 'it is no file'],
      ['none', 'it cannot be read (ENOENT)'],
    ] as const)
      await expect(readProcessFile(join(folder, name), SETTING)).rejects.toMatchObject({
        code: 'SVC_SETTING_INVALID',
        message: expect.stringContaining(reason),
      });
  },
);
