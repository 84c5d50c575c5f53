// The command line: as processes in a folder of their own, or in the process of the test where a command only prints.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import manifest from '../../cli/package.json' with { type: 'json' };
import { SVC_ERROR_CODES } from '../../kit/svc-error.ts';
import { runCommand, runCommands } from '../support/command-line.ts';
import { runSvc } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '..', '..');
const counter = readFileSync(
  join(root, 'fixtures/counter/assembly/index.ts'),
  'utf8',
); /** Found before anything is compiled, in its third line. */
const bad = '@data class A { a: i32 = 0; }\n\n@dat class B {}\n';

/** Runs the command with its output on a pipe, whatever the terminal of the tests is. */
const NO_COLOUR = { FORCE_COLOR: undefined, NO_COLOR: undefined };

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
    const { code, stdout, stderr } = await runCommand(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^ {2}new .*\n {2}build .*\n {2}dev .*\n {2}run .*\n {2}web .*\n {2}proxy .*\n {2}up .*\n {2}down .*\n {2}control-plane .*\n {2}gateway .*\n {2}registry .*\n {2}webhook-service .*\n {2}login-provider .*\n {2}console .*\n {2}token .*\n {2}inspect .*\n {2}configuration .*\n {2}image build .*\n {2}image inspect .*\n {2}image push .*\n {2}image list .*\n {2}image delete .*\n {2}journal /m,
    );
  });

  test.each([
    'new',
    'build',
    'dev',
    'run',
    'web',
    'inspect',
    'journal',
    'timers',
    'explain',
    'completion',
    'version',
  ])('%s --help says how it is used', async (command) => {
    const answers = await runCommands([
      [command, '--help'],
      [command, 'x', '-h'],
      ['help', command],
    ]);
    for (const { code, stdout, stderr } of answers) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(new RegExp(`^Usage: svc ${command}( |$)`, 'm'));
      expect(stdout).toMatch(/^Examples?:\n {2}.*svc /m);
    }
  });
});

describe('a sub-command', () => {
  test.each(['verify', 'export', 'import', 'backup'])(
    'journal %s has help of its own',
    async (word) => {
      const answers = await runCommands([
        ['journal', word, '--help'],
        ['help', 'journal', word],
      ]);
      for (const { code, stdout, stderr } of answers) {
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
        expect(stdout).toMatch(new RegExp(`^Usage: svc journal ${word} DIR`, 'm'));
      }
      expect((await runCommand(['help', 'journal'])).stdout).toContain(`svc journal ${word}`);
    },
  );

  test.each(['cancel', 'retry'])('timers %s has help of its own', async (word) => {
    const { code, stdout, stderr } = await runCommand(['timers', word, '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^Usage: svc timers ${word} DIR OWNER NAME$`, 'm'));
    expect((await runCommand(['help', 'timers'])).stdout).toContain(`svc timers ${word}`);
  });

  test('is not meant where a folder of its name is written with its path', async () => {
    const { stderr } = await runSvc(['journal', './verify'], { cwd: folderWith({}) });
    expect(stderr).toMatch(/There is no journal in .*verify, .*\[SVC_JOURNAL_MISSING\]\n$/);
  });

  test('is not suggested where something of the name is there', async () => {
    const folder = folderWith({});
    mkdirSync(join(folder, 'verfy'));
    const { stderr } = await runSvc(['journal', 'verfy'], { cwd: folder });
    expect(stderr).toMatch(/\[SVC_JOURNAL_MISSING\]\n$/);
  });
});

describe('a word that was mistyped', () => {
  test.each([
    [['jounral'], "Did you mean 'journal'?"],
    [['journal', 'verfy', 'data'], "Did you mean 'journal verify'?"],
    [['journal', 'exprt'], "Did you mean 'journal export'?"],
    [['journal', 'verify', 'data', '--structur'], "Did you mean '--structure'?"],
    [['--verison'], "Did you mean '--version'?"],
    [['run', 'a.wasm', '--prot', '1'], "Did you mean '--port'?"],
    [['inspect', 'a.wasm', '-o', 'jsno'], "Did you mean 'json'?"],
    [['completion', 'bsh'], "Did you mean 'bash'?"],
    [['explain', 'svc_build_faild'], "Did you mean 'SVC_BUILD_FAILED'?"],
    [['build', 'a.ts', '-o', 'json'], '--json prints the report as JSON'],
  ])('is answered with what was meant: %j', async (args, suggestion) => {
    const { code, stdout, stderr } = await runCommand(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(suggestion);
    expect(stderr).toMatch(/\[SVC_USAGE\]\n$/);
  });

  test.each([
    [['new', '']],
    [['build', '']],
    [['build', 'a.ts', '-o', '']],
    [['inspect', '']],
    [['journal', '']],
    [['run', '']],
  ])('is not empty: %j, as of a variable that is not set, is refused', async (args) => {
    const { code, stderr } = await runSvc(args, { cwd: folderWith({}) });
    expect(code).toBe(2);
    expect(stderr).toMatch(/\[SVC_USAGE\]\n$/);
  });

  test('reaches a terminal without its control characters', async () => {
    const { stderr } = await runCommand(['\u001b[31mred\u009b']);
    expect(stderr).toContain(String.raw`there is no command '\u{1b}[31mred\u{9b}'`);
  });
});

test('output that is lost is a failure; output that nobody wants any more is none', (context) => {
  context.skip(!existsSync('/dev/full'), 'there is no /dev/full to lose output in');
  const svc = `"${process.execPath}" "${join(root, 'cli/bin/svc.js')}" explain`;
  const lost = spawnSync('/bin/sh', ['-c', `${svc} > /dev/full`], { encoding: 'utf8' });
  expect(lost).toMatchObject({ status: 1, stderr: 'svc: the output was lost (ENOSPC)\n' });
  const unwanted = spawnSync('/bin/sh', ['-c', `(${svc}; echo $? >&2) | true`], {
    encoding: 'utf8',
  });
  expect(unwanted.stderr).toBe('0\n');
});

test('svc version -o json says which Node it runs on', async () => {
  const { stdout } = await runSvc(['version', '-o', 'json']);
  expect(JSON.parse(stdout)).toEqual({ svc: manifest.version, node: process.versions.node });
});

describe('svc explain', () => {
  test('prints the page of a code', async () => {
    const { code, stdout } = await runSvc(['explain', 'SVC_PORT_IN_USE'], { env: NO_COLOUR });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^SVC_PORT_IN_USE\n/);
    expect(stdout).toMatch(/^What to do$/m);
  });

  test('without a code lists all of them', async () => {
    const { stdout } = await runCommand(['explain']);
    expect(stdout.trimEnd().split('\n')).toEqual([...SVC_ERROR_CODES].toSorted());
  });
});

describe('colour', () => {
  const ESCAPE = '\u001b[';

  test('is for a terminal: not for a pipe, and not when NO_COLOR says so', async () => {
    const folder = folderWith({ 'bad.ts': bad });
    for (const env of [NO_COLOUR, { FORCE_COLOR: undefined, NO_COLOR: '1' }]) {
      const { stderr } = await runSvc(['build', 'bad.ts'], { cwd: folder, env });
      expect(stderr).toMatch(/^bad\.ts:3:\d+: /);
      expect(stderr).not.toContain(ESCAPE);
    }
  });

  test('marks the place of a problem, and is never in JSON', async () => {
    const folder = folderWith({ 'bad.ts': bad });
    const env = { FORCE_COLOR: '1', NO_COLOR: undefined };
    const coloured = await runSvc(['build', 'bad.ts'], { cwd: folder, env });
    expect(coloured.stderr).toContain('\u001b[1mbad.ts:3:1:\u001b[22m ');
    const json = await runSvc(['build', 'bad.ts', '--json'], { cwd: folder, env });
    expect(json.stdout).not.toContain(ESCAPE);
  });
});

describe('svc build', () => {
  test('--json prints the problems with file, line and column', async () => {
    const folder = folderWith({ 'bad.ts': bad });
    const built = await runSvc(['build', 'bad.ts', '--json'], { cwd: folder });
    expect(built.code).toBe(1);
    expect(JSON.parse(built.stdout)).toMatchObject({
      error: { code: 'SVC_BUILD_FAILED', problems: [{ file: 'bad.ts', line: 3, column: 1 }] },
    });
    expect(built.stderr).toMatch(/^svc: .*\[SVC_BUILD_FAILED\]\n$/);
  });

  test('of what does not compile names file and line, exits with 1 and writes nothing', async () => {
    const folder = folderWith({ 'bad.ts': bad });
    const built = await runSvc(['build', 'bad.ts'], { cwd: folder });
    expect(built).toMatchObject({ code: 1, stdout: '' });
    expect(built.stderr).toMatch(/^bad\.ts:3:\d+: /m);
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

  test('does not write over its source', async () => {
    const folder = folderWith({ 'counter.ts': counter });
    const built = await runSvc(['build', 'counter.ts', '-o', './counter.ts'], { cwd: folder });
    expect(built.code).toBe(2);
    expect(readFileSync(join(folder, 'counter.ts'), 'utf8')).toBe(counter);
  });
});

function section(id: number, ...bytes: readonly number[]): number[] {
  return [id, bytes.length, ...bytes];
}

test('svc inspect shows a name of the module on one line, whatever the name is', async () => {
  const name = '\n\nroutes\n  GET /harmless\u001b[2J';
  const component = [
    ...Buffer.from('\0asm\r\0\u0001\0'),
    // An empty instance type, and an import of such an instance.
    ...section(7, 1, 0x42, 0),
    ...section(10, 1, 0, name.length, ...Buffer.from(name), 5, 0),
  ];
  const folder = folderWith({});
  writeFileSync(join(folder, 'module.wasm'), Buffer.from(component));
  const { code, stdout } = await runSvc(['inspect', 'module.wasm'], { cwd: folder });
  expect(code).toBe(1);
  expect(stdout).toContain(
    String.raw`\nimports\n  \u{a}\u{a}routes\u{a}  GET /harmless\u{1b}[2J\n`.replaceAll(
      '\\n',
      '\n',
    ),
  );
  expect(stdout).not.toMatch(/^routes/m);
});

test('svc inspect of a file that is not there says so and exits with 1', async () => {
  expect(await runSvc(['inspect', 'nowhere.wasm'], { cwd: folderWith({}) })).toMatchObject({
    code: 1,
    stdout: '',
    stderr:
      'svc: The module nowhere.wasm cannot be read (ENOENT). Give the path of a .wasm file. [SVC_MODULE_UNREADABLE]\n',
  });
});
