// What happens on one machine while something else is under way, with real processes: removals, pauses, crashes and failed generations at
// bad moments, and files that are not the orchestrator's own.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { processesOfRuns } from '../../../control-plane/local/run-processes.ts';
import { CART, cart, hasFailed, isComplete, observed, running } from './cart.ts';
import { IMAGES, MachineUnderTest, type MachineOptions } from './machine-under-test.ts';
import { until } from './until.ts';

let machine: MachineUnderTest;
function open(options: MachineOptions = {}): void {
  machine = new MachineUnderTest({ hasDataFolder: true, ...options });
  onTestFinished(() => machine.discard());
}
const apply = (image: string, generation: number, more = {}) =>
  machine.orchestrator.reconcile(cart(image, generation, more));
const remove = () => machine.orchestrator.reconcile({ kind: 'removed', key: CART });
const gone = () => until(async () => (await machine.orchestrator.observe(CART)).kind === 'none');
const processes = () => processesOfRuns(`${machine.folder}/`).map(({ start }) => start.pid);
const ofGeneration = (generation: number) =>
  machine.instances().find(({ spec }) => spec.generation === generation);

test('a service that is removed while its image is read, or its instance is made, leaves nothing behind', async () => {
  const read = Promise.withResolvers<void>();
  open({ whileReading: () => read.promise });
  await apply(IMAGES.good, 1);
  await remove();
  read.resolve();
  await gone();
  for (let generation = 2; generation < 12; generation++) {
    await apply(IMAGES.good, generation);
    for (let turns = 0; turns < generation; turns++) await new Promise(setImmediate);
    await remove();
    await gone();
    expect(machine.instances()).toEqual([]);
    await until(async () => processes().length === 0);
  }
  expect(readdirSync(join(machine.folder, 'services'))).toEqual([]);
});

test('a next generation that ends again and again keeps the present one neither from serving nor from being started again', async () => {
  open();
  await running(machine, IMAGES.good, 1);
  const [pid] = machine.pids();
  await apply(IMAGES.silent, 2);
  await until(async () => (ofGeneration(2)?.lastRun?.restarts ?? 0) >= 2);
  expect(await machine.orchestrator.observe(CART)).toMatchObject({ readyInstances: 1 });
  expect(ofGeneration(1)!.lastRun!.process!.pid).toBe(pid);
  process.kill(pid!, 'SIGKILL');
  await until(async () => ofGeneration(1)!.lastRun!.process?.pid !== pid);
  await observed(machine, ({ readyInstances }) => readyInstances === 1);
  await running(machine, IMAGES.good, 3);
});

test('a generation has its whole time with the data folder, also if the former one ended long before it was prepared', async () => {
  const read = Promise.withResolvers<void>();
  let reads = 0;
  const whileReading = () => (++reads === 1 ? Promise.resolve() : read.promise);
  open({ section: { restartPauseMs: 60_000, takeoverTimeoutMs: 400 }, whileReading });
  await apply(IMAGES.silent, 1);
  await observed(machine, ({ detail }) => detail?.includes('has ended') === true);
  await apply(IMAGES.good, 2);
  await until(async () => reads === 2);
  const sinceMs = performance.now();
  await until(async () => performance.now() - sinceMs > 500);
  read.resolve();
  expect((await observed(machine, isComplete)).readyInstances).toBe(1);
});

test('a generation that has failed is tried anew after a pause', async () => {
  open();
  await running(machine, IMAGES.good, 1);
  await apply(IMAGES.refused, 2);
  await observed(machine, hasFailed);
  await apply(IMAGES.refused, 2, { instances: 0, isPaused: true });
  await until(async () => machine.instances().length === 0);
  await apply(IMAGES.refused, 2);
  await until(async () => machine.instances().length === 1);
  expect((await observed(machine, hasFailed)).detail).toContain('SVC_MODULE_MALFORMED');
  await running(machine, IMAGES.good, 3);
});

test('an instance that somebody else has asked to end is started again', async () => {
  open();
  await running(machine, IMAGES.good, 1);
  const [pid] = machine.pids();
  process.kill(pid!, 'SIGTERM');
  await until(async () => !machine.pids().includes(pid!));
  await observed(machine, ({ readyInstances }) => readyInstances === 1);
  expect(machine.instances()[0]!.lastRun).toMatchObject({ restarts: 1, failures: 1 });
});

test('a service that this machine cannot run is refused, and nothing of it is stored', async () => {
  open({ problems: [{ path: '/hosting', reason: 'is not wasm' }] });
  await expect(apply(IMAGES.good, 1)).rejects.toThrow(
    expect.objectContaining({
      name: 'WorkloadRefused',
      message: expect.stringContaining('not wasm'),
    }),
  );
  expect(existsSync(join(machine.folder, 'services', 'web'))).toBe(false);
});

test('a restart runs the image of its apply, and asks nobody for it', async () => {
  let reads = 0;
  open({ whileReading: async () => void (reads += 1) });
  await running(machine, IMAGES.good, 1);
  await apply(IMAGES.good, 2, { appliedGeneration: 1 });
  await observed(
    machine,
    ({ generation, rollout }) => generation === 2 && rollout.kind === 'complete',
  );
  await machine.restart();
  await apply(IMAGES.good, 3, { appliedGeneration: 1 });
  await observed(
    machine,
    ({ generation, rollout }) => generation === 3 && rollout.kind === 'complete',
  );
  expect(reads).toBe(1);
  await running(machine, IMAGES.good, 4);
  expect(reads).toBe(2);
});

test('records and instances that stand at the place of others are left alone', async () => {
  open();
  await running(machine, IMAGES.good, 1);
  await machine.orchestrator[Symbol.asyncDispose]();
  const record = { version: 1, desired: { kind: 'removed', key: CART } };
  writeFileSync(join(machine.folder, 'services', 'web', 'shop.json'), JSON.stringify(record));
  writeFileSync(join(machine.folder, 'services', 'web', 'later.json'), '{"version":2}');
  const copy = join(machine.folder, 'instances', 'web', 'shop', 'shop-1-00000000');
  mkdirSync(copy, { recursive: true });
  writeFileSync(join(copy, 'spec.json'), JSON.stringify(machine.instances()[0]!.spec));
  const before = machine.pids();
  machine.orchestrator = machine.open();
  await observed(machine, isComplete);
  expect(machine.pids()).toEqual(before);
  expect(existsSync(join(copy, 'spec.json'))).toBe(true);
});

test('what control planes have left that were killed in the middle is gone after the next start', async () => {
  open();
  await running(machine, IMAGES.good, 1);
  await machine.orchestrator[Symbol.asyncDispose]();
  const [instance] = machine.instances();
  const unmade = join(machine.folder, 'instances', 'web', 'shop', 'shop-3-0a1b2c3d');
  const emptied = join(machine.folder, 'instances', 'gone', 'gone');
  for (const folder of [unmade, emptied]) mkdirSync(folder, { recursive: true });
  const hex = 'ab'.repeat(32);
  const modules = join(machine.folder, 'modules');
  mkdirSync(modules);
  const torn = [
    join(machine.folder, 'services', 'web', 'cart.json.new'),
    join(instance!.path, 'run.json.new'),
    join(modules, `${hex}.wasm`),
    join(modules, `${hex}.wasm.0a1b.new`),
  ];
  for (const file of [...torn, join(modules, 'mine.txt')]) writeFileSync(file, '{"torn');
  machine.orchestrator = machine.open();
  for (const path of [unmade, emptied, ...torn]) await until(async () => !existsSync(path));
  expect(existsSync(join(modules, 'mine.txt'))).toBe(true);
  await observed(machine, isComplete);
});

test('instances of a service that nobody asks for are ended after a while', async () => {
  open({ section: { orphanMs: 300 } });
  await running(machine, IMAGES.good, 1);
  await machine.orchestrator[Symbol.asyncDispose]();
  writeFileSync(join(machine.folder, 'services', 'web', 'cart.json'), '{"torn');
  machine.orchestrator = machine.open();
  expect(processes()).toHaveLength(1);
  await until(async () => machine.instances().length === 0);
  await until(async () => processes().length === 0);
  await gone();
});

test('output beyond its bound is cut at the beginning', async () => {
  open({ section: { outputBytesMax: 10_000 } });
  await running(machine, 'svc.test/talking:1', 1);
  const [folder] = machine.instances();
  await until(async () => existsSync(join(folder!.path, 'stderr.1')));
  for (let count = 0; count < 3; count++) {
    const [shown] = (await machine.orchestrator.logs(CART, {
      previous: false,
      bytesMax: 1_000_000,
    })) as readonly { readonly output: string }[];
    expect(shown!.output.length).toBeLessThan(100_000);
    expect(shown!.output).toMatch(/^(?:talking [a-z ]+\n|line \d+\n)+$/);
  }
});
