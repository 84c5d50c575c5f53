// The command line as its user has it: real processes in a folder of their own.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import manifest from '../../cli/package.json' with { type: 'json' };
import { runSvc } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '..', '..');
const counter = readFileSync(join(root, 'fixtures/counter/assembly/index.ts'), 'utf8');

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

describe('svc', () => {
  test.each([['--version'], ['-v'], ['version']])('%s prints the version', async (word) => {
    expect(await runSvc([word])).toMatchObject({
      code: 0,
      stdout: `${manifest.version}\n`,
      stderr: '',
    });
  });

  test.each([[[]], [['--help']], [['-h']], [['help']]])('%j lists the commands', async (args) => {
    const { code, stdout, stderr } = await runSvc(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^ {2}build .*\n {2}run .*\n {2}inspect /m);
  });

  test.each(['build', 'run', 'inspect'])('%s --help says how it is used', async (command) => {
    const answers = await Promise.all([
      runSvc([command, '--help']),
      runSvc([command, 'x', '-h']),
      runSvc(['help', command]),
    ]);
    for (const { code, stdout, stderr } of answers) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(`Usage: svc ${command} `);
    }
  });
});

describe('svc build', () => {
  test('writes the component to the file that -o names, and nothing to stdout', async () => {
    const folder = folderWith({ 'my counter.ts': counter });
    mkdirSync(join(folder, 'out put'));
    const built = await runSvc(['build', 'my counter.ts', '-o', 'out put/c.wasm'], { cwd: folder });
    expect(built).toMatchObject({ code: 0, stdout: '' });
    expect(readFileSync(join(folder, 'out put/c.wasm')).subarray(0, 4)).toEqual(
      Buffer.from('\0asm'),
    );
    expect(existsSync(join(folder, 'my counter.wasm'))).toBe(false);
  });

  test('of what does not compile names file and line, exits with 1 and writes nothing', async () => {
    const folder = folderWith({ 'bad.ts': 'const a: i32 = 1;\nconst b: i32 = "text";\n' });
    const built = await runSvc(['build', 'bad.ts'], { cwd: folder });
    expect(built).toMatchObject({ code: 1, stdout: '' });
    expect(built.stderr).toMatch(/^bad\.ts:2:\d+: /m);
    expect(built.stderr).toMatch(/\nsvc: bad\.ts does not compile .*\[SVC_BUILD_FAILED\]\n$/);
    expect(built.stderr).not.toMatch(/^ +at /m);
    expect(existsSync(join(folder, 'bad.wasm'))).toBe(false);
  });

  test.each([['nowhere.ts'], ['nowhere'], ['nowhere.wasm']])(
    'of %s, which is no source, says so',
    async (file) => {
      const built = await runSvc(['build', file], { cwd: folderWith({}) });
      expect(built).toMatchObject({ code: 1, stdout: '' });
      expect(built.stderr).toMatch(/\[SVC_BUILD_FAILED\]\n$/);
      expect(built.stderr).not.toMatch(/^ +at /m);
    },
  );

  test('to a file that cannot be written says so and what to do', async () => {
    const folder = folderWith({ 'counter.ts': counter });
    const built = await runSvc(['build', 'counter.ts', '-o', 'none/c.wasm'], { cwd: folder });
    expect(built.code).toBe(1);
    expect(built.stderr).toBe(
      'svc: The component cannot be written to none/c.wasm (ENOENT). ' +
        'Name a file in a folder that exists with -o. [SVC_BUILD_FAILED]\n',
    );
  });

  test('does not write over its source', async () => {
    const folder = folderWith({ 'counter.ts': counter });
    const built = await runSvc(['build', 'counter.ts', '-o', './counter.ts'], { cwd: folder });
    expect(built.code).toBe(2);
    expect(readFileSync(join(folder, 'counter.ts'), 'utf8')).toBe(counter);
  });
});

test('svc inspect of a file that is not there says so and exits with 1', async () => {
  expect(await runSvc(['inspect', 'nowhere.wasm'], { cwd: folderWith({}) })).toMatchObject({
    code: 1,
    stdout: '',
    stderr:
      'svc: The module nowhere.wasm cannot be read (ENOENT). Give the path of a .wasm file. [SVC_MODULE_UNREADABLE]\n',
  });
});
