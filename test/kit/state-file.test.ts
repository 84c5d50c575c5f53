// State files of processes that run, have ended or were killed, and files that are none.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ownProcessStart, processEnd } from '../../kit/process-start.ts';
import { observeState, StateFile } from '../../kit/state-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MODULE = new URL('../../kit/state-file.ts', import.meta.url).href;

/** A process that writes its state and then does what the code says; resolves once the file is there. */
async function writer(path: string, code: string): Promise<ChildProcess> {
  const script = `import { StateFile } from ${JSON.stringify(MODULE)};
    const file = new StateFile(${JSON.stringify(path)}, (error) => console.error(error));
    ${code}
    console.log('written');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

function statePath(): string {
  return join(temporaryFolder(), 'state.json');
}

/** A state of this process, with changes. */
function stateWith(changes: object): string {
  const state = { version: 1, ...ownProcessStart(), phase: 'ready', updatedAt: 'now' };
  return JSON.stringify({ ...state, ...changes });
}

test('a service that runs is seen in its phase', async () => {
  const path = statePath();
  const child = await writer(
    path,
    `file.write('starting'); file.write('prepared'); process.stdin.resume();`,
  );
  expect(observeState(path)).toMatchObject({
    kind: 'running',
    state: { version: 1, pid: child.pid, phase: 'prepared' },
  });
});

test('a service that has ended is seen with its exit code and its error', async () => {
  const path = statePath();
  const exit = `{ code: 1, signal: null, error: 'SVC_DATA_UNUSABLE', message: 'x'.repeat(9_000) }`;
  const child = await writer(path, `file.write('ended', ${exit});`);
  await once(child, 'close');
  const message = 'x'.repeat(4_000);
  expect(observeState(path)).toMatchObject({
    kind: 'ended',
    exit: { code: 1, signal: null, error: 'SVC_DATA_UNUSABLE', message },
  });
});

test('a service that was killed is dead, as it has not said that it ended', async () => {
  const path = statePath();
  const child = await writer(path, `file.write('ready'); process.stdin.resume();`);
  child.kill('SIGKILL');
  await once(child, 'close');
  expect(observeState(path)).toMatchObject({
    kind: 'dead',
    end: 'gone',
    state: { phase: 'ready' },
  });
});

test('hard case 29: a zombie is dead', async () => {
  const path = statePath();
  // The shell does not ask for the exit status of its child, as it continues as a program that has none.
  const code = `import { StateFile } from ${JSON.stringify(MODULE)}; new StateFile(${JSON.stringify(path)}, console.error).write('ready');`;
  const parent = spawn('/bin/sh', [
    '-c',
    '"$0" --input-type=module -e "$1" & exec sleep 60',
    process.execPath,
    code,
  ]);
  onTestFinished(() => void parent.kill('SIGKILL'));
  await expect
    .poll(() => observeState(path), { timeout: 20_000 })
    .toMatchObject({ kind: 'dead', end: 'zombie' });
});

test('hard case 29: another process with the id of a service is not the service', () => {
  const path = statePath();
  writeFileSync(path, stateWith({ startTime: 1 }));
  expect(observeState(path)).toMatchObject({ kind: 'dead', end: 'other-process' });
});

test('a service of an earlier boot is dead, whoever has its id now', () => {
  const path = statePath();
  const bootId = '00000000-0000-0000-0000-000000000000';
  writeFileSync(path, stateWith({ bootId }));
  expect(observeState(path)).toMatchObject({ kind: 'dead', end: 'other-boot' });
  writeFileSync(path, stateWith({ bootId, pid: 2 ** 31 - 1 }));
  expect(observeState(path)).toMatchObject({ kind: 'dead', end: 'other-boot' });
});

test('a command with spaces and parentheses does not hide when its process started', async () => {
  const child = spawn(process.execPath, [
    '-e',
    `process.title = 'a) R 1 (b'; console.log(1); process.stdin.resume()`,
  ]);
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const own = ownProcessStart();
  expect(processEnd({ ...own, pid: child.pid! })).toBe('other-process');
});

test('a missing file says nothing', () => {
  expect(observeState(statePath())).toEqual({ kind: 'missing' });
});

test.each([
  ['nothing', ''],
  ['a torn state', '{"version":1,"pid":12'],
  ['another version', stateWith({ version: 2 })],
  ['no process', stateWith({ pid: 0 })],
  ['a group of processes', stateWith({ pid: -1 })],
  ['a text as its process', stateWith({ pid: '1' })],
  ['an unknown phase', stateWith({ phase: 'sleeping' })],
  ['a start time that is none', stateWith({ startTime: 'x' })],
  ['an exit that is none', stateWith({ phase: 'ended', exit: { code: 'x', signal: null } })],
  ['a list', '[]'],
  ['null', 'null'],
  ['too much', stateWith({ updatedAt: 'x'.repeat(70_000) })],
])('a file with %s is unreadable', (_name, text) => {
  const path = statePath();
  writeFileSync(path, text);
  expect(observeState(path)).toMatchObject({ kind: 'unreadable' });
});

test('a folder, a link and a pipe are unreadable, and nobody waits for them', () => {
  const folder = temporaryFolder();
  const state = join(folder, 'state.json');
  writeFileSync(state, stateWith({}));
  const [link, pipe, directory] = ['link', 'pipe', 'folder'].map((name) => join(folder, name));
  symlinkSync(state, link!);
  execFileSync('mkfifo', [pipe!]);
  mkdirSync(directory!);
  for (const path of [link!, pipe!, directory!])
    expect(observeState(path)).toMatchObject({ kind: 'unreadable' });
});

test('a reader sees a whole state while the file is replaced again and again', async () => {
  const path = statePath();
  const code = `file.write('starting');
    setInterval(() => { for (let i = 0; i < 50; i++) file.write(i % 2 ? 'ready' : 'prepared'); });`;
  await writer(path, code);
  for (let reads = 0; reads < 2_000; reads++) expect(observeState(path).kind).toBe('running');
});

test('only the user of the service may read its state, and nothing else is left in the folder', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'state.json');
  writeFileSync(`${path}.new`, 'torn');
  chmodSync(`${path}.new`, 0o666);
  new StateFile(path, (error) => expect.unreachable(String(error))).write('starting');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['state.json']);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ phase: 'starting' });
});

test('a file that cannot be written is reported once', () => {
  const failures: unknown[] = [];
  const file = new StateFile(join(temporaryFolder(), 'missing', 'state.json'), (error) =>
    failures.push(error),
  );
  file.write('starting');
  file.write('ready');
  expect(failures).toHaveLength(1);
});
