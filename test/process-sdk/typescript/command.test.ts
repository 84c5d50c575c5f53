// A service whose code is in a process that the runtime starts itself, as whole programs.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commandWords } from '../../../host/hosting/process/command-words.ts';
import { isProcessAlive } from '../../../kit/process-life.ts';
import { SvcProcess } from '../../support/host-process.ts';
import { added, programFolder, skus, startedCommand } from './support/started-command.ts';

test('a command is words without a shell: quotes keep spaces, and one that is not closed is refused', () => {
  expect(commandWords(`python3 'my main.py' --name="a b"  x`)).toEqual([
    'python3',
    'my main.py',
    '--name=a b',
    'x',
  ]);
  expect(commandWords('node main.ts > $HOME/x; `y`')).toEqual([
    'node',
    'main.ts',
    '>',
    '$HOME/x;',
    '`y`',
  ]);
  const refused = ['', '  ', `node 'main.ts`, `node "a`, `''`];
  expect(refused.filter((line) => commandWords(line) !== undefined)).toEqual([]);
});

test('the runtime starts the process, starts it again when it is killed, and ends it', async () => {
  const { folder, file } = programFolder();
  const svc = startedCommand('run', folder);
  const pid = () => Number(readFileSync(file('main.pid'), 'utf8'));
  const url = await svc.listening();
  expect(await added(url, 'a')).toBe(200);
  expect(svc.stderr).toContain('"from":"process"');

  const first = pid();
  process.kill(first, 'SIGKILL');
  await expect.poll(() => added(url, 'b'), { timeout: 30_000 }).toBe(200);
  expect(pid()).not.toBe(first);
  expect(svc.stderr).not.toContain('begins again');

  expect(await skus(url)).toEqual(['a', 'b']);
  const last = pid();
  expect(await svc.end('SIGTERM')).toMatchObject({ code: 0 });
  expect(isProcessAlive(last)).toBe(false);
}, 120_000);

test.each([
  ["--process-command='node", /a program and its arguments/],
  ['--process-command=no-such-program-here', /SVC_COMMAND_NOT_STARTED|was not started/],
])('run %s is refused with a sentence', async (given, words) => {
  const svc = new SvcProcess([
    'run',
    ...given.split(' --').map((one, i) => (i ? `--${one}` : one)),
  ]);
  const { code, stderr } = await svc.ended;
  expect(code).not.toBe(0);
  expect(stderr).toMatch(words);
});
