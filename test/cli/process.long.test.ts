// Tools that start the process that holds the code: it is ended with the tool, whatever ends the tool.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { isProcessAlive } from '../../kit/process-life.ts';
import { SvcProcess } from '../support/host-process.ts';
import { fillTallies, svc } from '../support/tally-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const data = join(folder, 'data');
const program = join(folder, 'main.ts');
const root = join(import.meta.dirname, '../..');

beforeAll(async () => {
  await fillTallies(data);
  writeFileSync(
    program,
    `import { spawn } from 'node:child_process';
    import { writeFileSync } from 'node:fs';
    import { serveProcess } from ${JSON.stringify(join(root, 'process-sdk/typescript/index.ts'))};
    import { tallyComponents } from ${JSON.stringify(join(root, 'test/support/tally.ts'))};
    const [name, kind] = process.argv.slice(2);
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    writeFileSync(name + '.pids', process.pid + ' ' + child.pid);
    const apply = {
      pure: undefined,
      double: (state, event) => ({ total: state.total + 2 * event.amount }),
      looping: () => { console.log('it folds'); for (;;); },
      ending: () => process.exit(3),
    }[kind];
    if (kind === 'slow to end')
      process.on('SIGTERM', () => setTimeout(() => {
        writeFileSync(name + '.closed', '');
        process.exit(0);
      }, 500));
    if (['silent', 'slow to end'].includes(kind)) console.log('it never listens');
    else if (kind !== 'failing') await serveProcess(tallyComponents({ apply, version: kind }));
    else process.exit(7);`,
  );
});

/** Returns a command that starts the program, and whether anything of it runs. */
function command(kind: string) {
  const name = join(folder, String(commands++));
  const line = `'${process.execPath}' --disable-warning=ExperimentalWarning "${program}" ${name} '${kind}'`;
  const pids = () => readFileSync(`${name}.pids`, 'utf8').split(' ').map(Number);
  return { line, name, isAlive: () => pids().some((pid) => isProcessAlive(pid)) };
}
let commands = 0;

/** Waits until nothing runs: an ended process keeps its id until its parent has learned of the end. */
async function gone(...alive: readonly (() => boolean)[]): Promise<void> {
  for (const isAlive of alive) await expect.poll(isAlive).toBe(false);
}

test('svc verify starts the process, and ends it and what it has started', async () => {
  const { line, isAlive } = command('pure');
  const { code, stdout } = await svc('verify', '--process-command', line, '--data', data);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: '2 entities, 3 events, 1 view: every fold depends on the events alone\n',
  });
  await gone(isAlive);
});

test('svc upgrade-check starts two processes, and ends both', async () => {
  const [now, before] = [command('double'), command('pure')];
  const { code, stdout } = await svc(
    'upgrade-check',
    '--process-command',
    now.line,
    '--from-process-command',
    before.line,
    '--data',
    data,
    '-o',
    'json',
  );
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    process: now.line,
    from: before.line,
    findings: [{ name: 'state-differs', entities: 2 }],
  });
  await gone(now.isAlive, before.isAlive);
});

test('a process that ends before it answers, or while it folds, ends the tool with an error', async () => {
  const failing = command('failing');
  const early = await svc('verify', '--process-command', failing.line, '--data', data);
  expect(early.code).toBe(1);
  expect(early.stderr).toMatch(/starts has ended with the exit code 7 .*UNAVAILABLE\]\n$/);
  const ending = command('ending');
  const late = await svc('verify', '--process-command', ending.line, '--data', data);
  expect(late).toMatchObject({ code: 1, stdout: '' });
  expect(late.stderr).toMatch(/\[SVC_PROCESS_UNAVAILABLE\]\n$/);
  await gone(failing.isAlive, ending.isAlive);
});

test.each([
  ['silent', 'it never listens'],
  ['looping', 'it folds'],
])('a signal ends a tool and its process that is %s', async (kind, printed) => {
  const { line, isAlive } = command(kind);
  const tool = new SvcProcess(['verify', '--process-command', line, '--data', data]);
  onTestFinished(() => void tool.child.kill('SIGKILL'));
  await expect.poll(() => tool.stderr, { timeout: 60_000 }).toContain(printed);
  expect(isAlive()).toBe(true);
  expect(await tool.end('SIGINT')).toMatchObject({ code: 130, stdout: '' });
  await gone(isAlive);
});

test('a signal ends a tool when both of its processes have ended', async () => {
  const [now, before] = [command('pure'), command('slow to end')];
  const words = ['--process-command', now.line, '--from-process-command', before.line];
  const tool = new SvcProcess(['upgrade-check', ...words, '--data', data]);
  onTestFinished(() => void tool.child.kill('SIGKILL'));
  await expect.poll(() => tool.stderr, { timeout: 60_000 }).toContain('it never listens');
  expect(await tool.end('SIGTERM')).toMatchObject({ code: 143, stdout: '' });
  expect(existsSync(`${before.name}.closed`)).toBe(true);
  await gone(now.isAlive, before.isAlive);
});
