// A service in standby: it takes a data folder over from a process that ends or is killed, and leaves a process alone
// that it could not replace.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { observeState, type ServicePhase } from '../../kit/state-file.ts';
import { changedSources } from '../support/changed-sources.ts';
import { compileFixture, compileSources, sourcesOf } from '../support/compile-fixture.ts';
import { managementOf } from '../support/deployed-service.ts';
import { HoldingFront } from '../support/holding-front.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';

const modules = temporaryFolderOfFile();
const counter = join(modules, 'counter.wasm');
const renamed = join(modules, 'renamed.wasm');
const foreign = join(modules, 'foreign.wasm');

beforeAll(async () => {
  const sources = await sourcesOf('counter');
  writeFileSync(counter, await compileFixture('counter'));
  writeFileSync(foreign, await compileFixture('expiring-order'));
  writeFileSync(
    renamed,
    await compileSources(
      'counter',
      changedSources(sources, [['@variant("added")', '@variant("increased")']]),
    ),
  );
}, 120_000);

interface Instance {
  readonly svc: SvcProcess;
  readonly stateFile: string;
}

let instances = 0;

function start(folder: string, settings: readonly string[], module = counter): Instance {
  const stateFile = join(folder, `state-${++instances}.json`);
  const words = [
    'run',
    '--deployed',
    module,
    '--port',
    '0',
    '--shards',
    '2',
    '--data',
    join(folder, 'data'),
  ];
  const all = ['svc.http.host=127.0.0.1', `svc.state-file=${stateFile}`, ...settings];
  const svc = new SvcProcess([...words, ...all.flatMap((setting) => ['--set', setting])]);
  onTestFinished(async () => void (await svc.end('SIGKILL')));
  return { svc, stateFile };
}

const startStandby = (folder: string, settings: readonly string[] = [], module = counter) =>
  start(folder, ['svc.standby=true', ...settings], module);

const phase = async ({ stateFile }: Instance, wanted: ServicePhase) =>
  expect
    .poll(() => observeState(stateFile), { timeout: 30_000, interval: 5 })
    .toMatchObject({ state: { phase: wanted } });

async function add(url: string, id: string): Promise<{ value: number }> {
  const answer = await fetch(`${url}/counters/${id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"amount":1}',
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as { value: number };
}

/** A service that serves, and has stored something. */
async function served(folder: string): Promise<{ readonly old: Instance; readonly url: string }> {
  const old = start(folder, []);
  const url = await old.svc.listening();
  expect(await add(url, 'a')).toEqual({ value: 1 });
  return { old, url };
}

test('no request fails while instances replace one another, by a stop and by a kill', async () => {
  const folder = temporaryFolder();
  let { old, url } = await served(folder);
  const front = new HoldingFront(url);
  const address = await front.listen();
  let isOver = false;
  let requests = 0;
  const client = async (id: string) => {
    let last = 0;
    while (!isOver) {
      const { value } = await add(address, id);
      expect(value).toBe(++last);
      requests++;
    }
  };
  const clients = Promise.all(['b', 'c', 'd', 'e'].map(client));
  for (let round = 0; round < 10; round++) {
    const next = startStandby(folder);
    await phase(next, 'prepared');
    await front.hold();
    old.svc.child.kill(round % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
    url = await next.svc.listening();
    front.release(url);
    const before = requests;
    await expect.poll(() => requests, { timeout: 10_000, interval: 5 }).toBeGreaterThan(before + 8);
    await old.svc.ended;
    old = next;
  }
  isOver = true;
  await clients;
  expect(await add(url, 'a')).toEqual({ value: 2 });
}, 60_000);

test('a service in standby says that it is prepared, and not that it is ready', async () => {
  const folder = temporaryFolder();
  const { old } = await served(folder);
  const next = startStandby(folder);
  await phase(next, 'prepared');
  const management = await managementOf(next.svc);
  const answer = await fetch(`${management}/ready`);
  expect(answer.status).toBe(503);
  const report = (await answer.json()) as { parts: readonly { part: string }[] };
  expect(report).toMatchObject({ ready: false, prepared: true });
  expect(report.parts).toContainEqual({
    part: 'journal',
    ready: false,
    reason: 'Another process uses the data folder, which this one waits for.',
  });
  await old.svc.end('SIGTERM');
  await phase(next, 'ready');
  const ready = await fetch(`${management}/ready`);
  expect([ready.status, await ready.json()]).toEqual([
    200,
    expect.not.objectContaining({ prepared: true }),
  ]);
});

test('of two services in standby one takes the folder over, and the other waits for the next turn', async () => {
  const folder = temporaryFolder();
  const { old } = await served(folder);
  const both = [startStandby(folder), startStandby(folder)];
  await Promise.all(both.map((one) => phase(one, 'prepared')));
  await old.svc.end('SIGKILL');
  const first = await Promise.any(both.map(async (one) => (await one.svc.listening(), one)));
  const second = both.find((one) => one !== first)!;
  expect(observeState(second.stateFile)).toMatchObject({
    kind: 'running',
    state: { phase: 'prepared' },
  });
  await first.svc.end('SIGKILL');
  expect(await add(await second.svc.listening(), 'a')).toEqual({ value: 2 });
});

test('a service that is stopped in standby ends with 0, and has changed nothing', async () => {
  const folder = temporaryFolder();
  const { old, url } = await served(folder);
  const next = startStandby(folder);
  await phase(next, 'prepared');
  expect((await next.svc.end('SIGTERM')).code).toBe(0);
  expect(observeState(next.stateFile)).toMatchObject({
    kind: 'ended',
    exit: { code: 0, signal: null },
  });
  expect(await add(url, 'a')).toEqual({ value: 2 });
  expect(observeState(old.stateFile)).toMatchObject({ kind: 'running', state: { phase: 'ready' } });
});

test.each([
  [
    'does not know the stored events',
    () => foreign,
    'SVC_MANIFEST_UNREADABLE',
    "'.*' of component 'counter'",
  ],
  [
    'cannot fold the stored events',
    () => renamed,
    'SVC_UPGRADE_UNSAFE',
    'event-refused \\(counter\\)',
  ],
])(
  'a module that %s ends in standby, and the old one serves on',
  async (_, module, code, message) => {
    const folder = temporaryFolder();
    const { url } = await served(folder);
    const next = startStandby(folder, [], module());
    const ended = await next.svc.ended;
    expect(ended.code).toBe(1);
    expect(observeState(next.stateFile)).toMatchObject({
      kind: 'ended',
      exit: { code: 1, signal: null, error: code, message: expect.stringMatching(message) },
    });
    expect(await add(url, 'a')).toEqual({ value: 2 });
  },
);

test('a difference that is allowed is no reason to end in standby', async () => {
  const folder = temporaryFolder();
  const { old } = await served(folder);
  const allowed = 'svc.upgrade.allow=event-refused:counter,fold-trapped,state-differs';
  const next = startStandby(folder, [allowed, `svc.upgrade.from=${counter}`], renamed);
  await phase(next, 'prepared');
  await old.svc.end('SIGTERM');
  expect(await add(await next.svc.listening(), 'new')).toEqual({ value: 1 });
});

test('a module that is refused ends in standby, and makes no data folder', async () => {
  const folder = temporaryFolder();
  const module = join(folder, 'torn.wasm');
  writeFileSync(module, readFileSync(counter).subarray(0, 5_000));
  const next = startStandby(folder, [], module);
  expect((await next.svc.ended).code).toBe(1);
  expect(observeState(next.stateFile)).toMatchObject({
    kind: 'ended',
    exit: { error: 'SVC_MODULE_MALFORMED' },
  });
  expect(existsSync(join(folder, 'data'))).toBe(false);
});

test('a service that does not serve in time after it took the folder ends, and the folder is free', async () => {
  const folder = temporaryFolder();
  const { old } = await served(folder);
  const next = startStandby(folder, ['svc.standby.ready-within-ms=1']);
  await phase(next, 'prepared');
  await old.svc.end('SIGTERM');
  expect((await next.svc.ended).code).toBe(1);
  expect(observeState(next.stateFile)).toMatchObject({
    kind: 'ended',
    exit: { error: 'SVC_STANDBY_TIMED_OUT' },
  });
  const again = start(folder, []);
  expect(await add(await again.svc.listening(), 'a')).toEqual({ value: 2 });
});

test('a service that is killed as soon as it has the folder leaves it to the next one', async () => {
  const folder = temporaryFolder();
  const { old } = await served(folder);
  const [first, second] = [startStandby(folder), startStandby(folder)];
  await Promise.all([phase(first, 'prepared'), phase(second, 'prepared')]);
  const owner = join(folder, 'data', 'owner.json');
  rmSync(owner);
  old.svc.child.kill('SIGKILL');
  await expect.poll(() => existsSync(owner), { interval: 1, timeout: 10_000 }).toBe(true);
  const { pid } = JSON.parse(readFileSync(owner, 'utf8')) as { pid: number };
  process.kill(pid, 'SIGKILL');
  const dead = [first, second].find(
    ({ stateFile }) => JSON.parse(readFileSync(stateFile, 'utf8')).pid === pid,
  )!;
  const left = dead === first ? second : first;
  expect(await add(await left.svc.listening(), 'a')).toEqual({ value: 2 });
  expect(observeState(dead.stateFile)).toMatchObject({ kind: 'dead', end: 'gone' });
});

test('a service in standby without another one serves at once', async () => {
  const next = startStandby(temporaryFolder());
  expect(await add(await next.svc.listening(), 'a')).toEqual({ value: 1 });
});

test('the log goes to files, and what is invalid goes to the state file', async () => {
  const folder = temporaryFolder();
  const logs = join(folder, 'logs');
  const { svc } = start(folder, [`svc.log.files.dir=${logs}`]);
  await svc.listening();
  const { stderr } = await svc.end('SIGTERM');
  expect(stderr).toBe('');
  expect(readdirSync(logs)).toEqual(['service.log']);
  const messages = readFileSync(join(logs, 'service.log'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { message: string }).message);
  expect(messages).toEqual(['management listening', 'listening', 'stopping', 'stopped']);
  const invalid = start(folder, ['svc.http.answer-timeout-ms=soon']);
  expect((await invalid.svc.ended).code).toBe(1);
  expect(observeState(invalid.stateFile)).toMatchObject({
    kind: 'ended',
    exit: { error: 'SVC_SETTING_INVALID' },
  });
});
