// Runs of instances, with real processes: no process runs of which nothing is known, and one control plane at a time looks after them.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ownProcessStart } from '@svc/kit/process-start';
import { InstanceFolder } from '../../../control-plane/local/instance-folder.ts';
import { replaceJsonFile } from '../../../control-plane/local/json-file.ts';
import { processesOfRuns } from '../../../control-plane/local/run-processes.ts';
import { CART, cart, isComplete, observed, running } from './cart.ts';
import { IMAGES, MachineUnderTest } from './machine-under-test.ts';
import { until } from './until.ts';

let machine: MachineUnderTest;
beforeEach(() => {
  machine = new MachineUnderTest({ hasDataFolder: true });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await machine.discard();
});

const alive = () => processesOfRuns(machine.folder).map(({ start }) => start.pid);
const full = () => Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });

/** Ends the orchestrator, lets things happen to its files, and starts another one. */
async function restartAfter(change: () => void): Promise<void> {
  await machine.orchestrator[Symbol.asyncDispose]();
  change();
  machine.orchestrator = machine.open();
}

test('a second control plane is refused the folder, and told who has it, until the first one has ended', async () => {
  expect(() => machine.open()).toThrow(
    expect.objectContaining({
      code: 'SVC_MACHINE_IN_USE',
      message: expect.stringContaining(`the process ${process.pid}`),
    }),
  );
  await machine.restart();
  expect(() => machine.open()).toThrow(expect.objectContaining({ code: 'SVC_MACHINE_IN_USE' }));
});

test('a process that was started without being noted is found, and goes on', async () => {
  await running(machine, IMAGES.good, 1);
  const [pid] = machine.pids();
  await restartAfter(() => {
    const [folder] = machine.instances();
    const { process: _unnoted, ...run } = folder!.lastRun!;
    folder!.writeRun(run);
  });
  await observed(machine, ({ readyInstances }) => readyInstances === 1);
  expect(machine.pids()).toEqual([pid]);
  expect(alive()).toEqual([pid]);
});

test('a run that was noted but never started is started, and is no failure', async () => {
  await running(machine, IMAGES.good, 1);
  const [pid] = machine.pids();
  await restartAfter(() => {
    const [folder] = machine.instances();
    const { process: _unnoted, ...run } = folder!.lastRun!;
    process.kill(pid!, 'SIGKILL');
    folder!.writeRun({ ...run, token: 'never-started' });
    rmSync(folder!.stateFile);
  });
  await until(async () => machine.instances()[0]!.lastRun!.process !== undefined);
  await observed(machine, ({ readyInstances }) => readyInstances === 1);
  expect(machine.instances()[0]!.lastRun).toMatchObject({ restarts: 1, failures: 0 });
});

test('a process of which nothing is known any more is killed at the start', async () => {
  await running(machine, IMAGES.good, 1);
  const [pid] = machine.pids();
  await restartAfter(() => rmSync(machine.instances()[0]!.path, { recursive: true }));
  await until(async () => !alive().includes(pid!));
  await observed(machine, ({ readyInstances }) => readyInstances === 1);
  expect(alive()).toEqual(machine.pids());
});

test('a process whose run is noted again as another one is killed before the next begins', async () => {
  await running(machine, IMAGES.good, 1);
  const [pid] = machine.pids();
  await restartAfter(() => writeFileSync(join(machine.instances()[0]!.path, 'run.json'), '{"torn'));
  await until(async () => !alive().includes(pid!));
  await observed(machine, ({ readyInstances }) => readyInstances === 1);
  expect(alive()).toEqual(machine.pids());
});

test('a full disk leaves no process that was not noted, and the service runs once there is space', async () => {
  let tries = 0;
  const written = vi.spyOn(InstanceFolder.prototype, 'writeRun');
  written.mockImplementation(function (this: InstanceFolder, run) {
    // The notes before the start succeed, those of the process fail at first.
    if (run.process !== undefined && ++tries <= 3) throw full();
    replaceJsonFile(join(this.path, 'run.json'), run);
  });
  await machine.orchestrator.reconcile(cart(IMAGES.good, 1));
  const workload = await observed(machine, ({ detail }) => detail?.includes('no space') === true);
  expect(workload.readyInstances).toBe(0);
  await observed(machine, isComplete);
  expect(alive()).toEqual(machine.pids());
});

test('hard case 29: what a process leaves behind when it ends is ended before it is started again', async () => {
  await running(machine, 'svc.test/parent:1', 1);
  const [pid] = machine.pids();
  await until(async () => alive().length === 2);
  const child = alive().find((one) => one !== pid)!;
  process.kill(pid!, 'SIGKILL');
  await until(async () => machine.pids()[0] !== pid);
  expect(child).not.toBe(pid);
  await until(async () => !alive().includes(child));
});

test('a state file of another process, boot or form says nothing of an instance', async () => {
  await running(machine, IMAGES.good, 1);
  const [pid] = machine.pids();
  const own = ownProcessStart();
  const state = { version: 1, ...own, phase: 'ready', updatedAt: new Date().toISOString() };
  const { stateFile } = machine.instances()[0]!;
  for (const text of [
    JSON.stringify(state),
    JSON.stringify({ ...state, pid, bootId: 'another' }),
    JSON.stringify({ ...state, pid, startTime: 1 }),
    '{"torn',
    'x'.repeat(100_000),
  ]) {
    writeFileSync(stateFile, text);
    expect(await machine.orchestrator.observe(CART)).toMatchObject({ readyInstances: 0 });
  }
  // The instance is not ended for it, and this process is not, whose id was in the file.
  expect(machine.pids()).toEqual([pid]);
  await machine.orchestrator.reconcile({ kind: 'removed', key: CART });
  await until(async () => (await machine.orchestrator.observe(CART)).kind === 'none');
  await until(async () => !alive().includes(pid!));
});

test('hard case 29: an id that another process has by now is neither taken for the instance nor signalled', async () => {
  await running(machine, IMAGES.good, 1);
  const [pid] = machine.pids();
  await restartAfter(() => {
    const [folder] = machine.instances();
    process.kill(pid!, 'SIGKILL');
    const run = folder!.lastRun!;
    // This process has the id, and started at another time.
    folder!.writeRun({ ...run, process: { ...run.process!, pid: process.pid } });
  });
  await observed(machine, ({ readyInstances }) => readyInstances === 1);
  expect(machine.pids()).not.toContain(process.pid);
});

test('after another boot everything is started again, which is no failure', async () => {
  await running(machine, IMAGES.good, 1);
  const [pid] = machine.pids();
  await restartAfter(() => {
    const [folder] = machine.instances();
    process.kill(pid!, 'SIGKILL');
    const run = folder!.lastRun!;
    folder!.writeRun({
      ...run,
      startedAt: { bootId: 'another', ms: 9e12 },
      process: { ...run.process!, bootId: 'another' },
    });
  });
  await observed(machine, ({ readyInstances }) => readyInstances === 1);
  expect(machine.instances()[0]!.lastRun).toMatchObject({ restarts: 1, failures: 0 });
});
