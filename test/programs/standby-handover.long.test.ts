// Services in standby take a data folder over from processes that end or are killed.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { observeState } from '../../kit/state-file.ts';
import { HoldingFront } from '../support/holding-front.ts';
import {
  increment,
  servedInstance,
  standbyModules,
  startInstance,
  startStandby,
  untilPhase,
} from '../support/standby-instances.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const HANDOVERS = 6;
const modules = standbyModules();

test('no request fails while instances replace one another, by a stop and by a kill', async () => {
  const folder = temporaryFolder();
  let { old, url } = await servedInstance(folder, modules.counter);
  const front = new HoldingFront(url);
  const address = await front.listen();
  const clients = new AbortController();
  let requests = 0;
  const client = async (id: string) => {
    let last = 0;
    while (!clients.signal.aborted) {
      const { value } = await increment(address, id);
      expect(value).toBe(++last);
      requests++;
    }
  };
  const allAnswered = Promise.all(['b', 'c', 'd', 'e'].map(client));
  for (let round = 0; round < HANDOVERS; round++) {
    const next = startStandby(folder, modules.counter);
    await untilPhase(next, 'prepared');
    await front.hold();
    old.svc.child.kill(round % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
    url = await next.svc.listening();
    front.release(url);
    const before = requests;
    await expect.poll(() => requests, { timeout: 10_000, interval: 5 }).toBeGreaterThan(before + 8);
    await old.svc.ended;
    old = next;
  }
  clients.abort();
  await allAnswered;
  expect(await increment(url, 'a')).toEqual({ value: 2 });
}, 60_000);

test('of two services in standby one takes the folder over, and the other waits for the next turn', async () => {
  const folder = temporaryFolder();
  const { old } = await servedInstance(folder, modules.counter);
  const both = [startStandby(folder, modules.counter), startStandby(folder, modules.counter)];
  await Promise.all(both.map((one) => untilPhase(one, 'prepared')));
  await old.svc.end('SIGKILL');
  const first = await Promise.any(both.map(async (one) => (await one.svc.listening(), one)));
  const second = both.find((one) => one !== first)!;
  expect(observeState(second.stateFile)).toMatchObject({
    kind: 'running',
    state: { phase: 'prepared' },
  });
  await first.svc.end('SIGKILL');
  expect(await increment(await second.svc.listening(), 'a')).toEqual({ value: 2 });
});

test('a service that is stopped in standby ends with 0, and has changed nothing', async () => {
  const folder = temporaryFolder();
  const { old, url } = await servedInstance(folder, modules.counter);
  const next = startStandby(folder, modules.counter);
  await untilPhase(next, 'prepared');
  expect((await next.svc.end('SIGTERM')).code).toBe(0);
  expect(observeState(next.stateFile)).toMatchObject({
    kind: 'ended',
    exit: { code: 0, signal: null },
  });
  expect(await increment(url, 'a')).toEqual({ value: 2 });
  expect(observeState(old.stateFile)).toMatchObject({ kind: 'running', state: { phase: 'ready' } });
});

test('a difference that is allowed is no reason to end in standby', async () => {
  const folder = temporaryFolder();
  const { old } = await servedInstance(folder, modules.counter);
  const allowed = 'svc.upgrade.allow=event-refused:counter,fold-trapped,state-differs';
  const settings = [allowed, `svc.upgrade.from=${modules.counter}`];
  const next = startStandby(folder, modules.renamed, settings);
  await untilPhase(next, 'prepared');
  await old.svc.end('SIGTERM');
  expect(await increment(await next.svc.listening(), 'new')).toEqual({ value: 1 });
});

test('a module that is refused ends in standby, and makes no data folder', async () => {
  const folder = temporaryFolder();
  const module = join(folder, 'torn.wasm');
  writeFileSync(module, readFileSync(modules.counter).subarray(0, 5_000));
  const next = startStandby(folder, module);
  expect((await next.svc.ended).code).toBe(1);
  expect(observeState(next.stateFile)).toMatchObject({
    kind: 'ended',
    exit: { error: 'SVC_MODULE_MALFORMED' },
  });
  expect(existsSync(join(folder, 'data'))).toBe(false);
});

test('a service that does not serve in time after it took the folder ends, and the folder is free', async () => {
  const folder = temporaryFolder();
  const { old } = await servedInstance(folder, modules.counter);
  const next = startStandby(folder, modules.counter, ['svc.standby.ready-within-ms=1']);
  await untilPhase(next, 'prepared');
  await old.svc.end('SIGTERM');
  expect((await next.svc.ended).code).toBe(1);
  expect(observeState(next.stateFile)).toMatchObject({
    kind: 'ended',
    exit: { error: 'SVC_STANDBY_TIMED_OUT' },
  });
  const again = startInstance(folder, modules.counter);
  expect(await increment(await again.svc.listening(), 'a')).toEqual({ value: 2 });
});

test('a service that is killed as soon as it has the folder leaves it to the next one', async () => {
  const folder = temporaryFolder();
  const { old } = await servedInstance(folder, modules.counter);
  const [first, second] = [
    startStandby(folder, modules.counter),
    startStandby(folder, modules.counter),
  ];
  await Promise.all([untilPhase(first, 'prepared'), untilPhase(second, 'prepared')]);
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
  expect(await increment(await left.svc.listening(), 'a')).toEqual({ value: 2 });
  expect(observeState(dead.stateFile)).toMatchObject({ kind: 'dead', end: 'gone' });
});

test('a service in standby without another one serves at once', async () => {
  const next = startStandby(temporaryFolder(), modules.counter);
  expect(await increment(await next.svc.listening(), 'a')).toEqual({ value: 1 });
});
