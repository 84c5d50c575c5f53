// The orchestrator of one machine, with real processes, does what every orchestrator does, and keeps data to one instance at a time.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isProcessAlive } from '@svc/kit/process-life';
import type { Workload } from '../../../control-plane/orchestration/orchestrator.ts';
import { CART, cart, isComplete, observed as observedOf, running as runningOf } from './cart.ts';
import { IMAGES, MachineUnderTest } from './machine-under-test.ts';
import { InstanceFolder } from '../../../control-plane/local/instance-folder.ts';
import { signalRun } from '../../../control-plane/local/instance-process.ts';
import { orchestratorSuite } from '../../suites/orchestrator-suite.ts';
import { until } from './until.ts';
import { join } from 'node:path';

orchestratorSuite('of one machine', async () => {
  const machine = new MachineUnderTest();
  return {
    orchestrator: machine.orchestrator,
    images: IMAGES,
    until: (condition) => until(condition),
    async crash({ service }) {
      const folder = InstanceFolder.readAll(join(machine.folder, 'instances')).find(
        ({ spec }) => spec.key.service === service,
      )!;
      signalRun(folder, 'SIGKILL');
    },
    discard: () => machine.discard(),
  };
});

describe('a service with a data folder on one machine', () => {
  let machine: MachineUnderTest;
  beforeEach(() => {
    machine = new MachineUnderTest({ hasDataFolder: true });
  });
  afterEach(() => machine.discard());

  const instances = () =>
    InstanceFolder.readAll(join(machine.folder, 'instances')).map(({ spec }) => spec);
  const observed = (condition: (workload: Workload) => boolean) => observedOf(machine, condition);
  const running = (image: string, generation: number) => runningOf(machine, image, generation);

  test('is replaced by the next generation, which had prepared beside it', async () => {
    await running(IMAGES.good, 1);
    const [first] = instances();
    expect(await running(IMAGES.other, 2)).toMatchObject({
      readyInstances: 1,
      updatedInstances: 1,
    });
    const [second, ...rest] = instances();
    expect(rest).toEqual([]);
    expect(second!.generation).toBe(2);
    expect(second!.address).not.toBe(first!.address);
  });

  test('hard case 29: goes on, as the same process, while another orchestrator takes its place', async () => {
    await running(IMAGES.good, 1);
    const before = machine.pids();
    await machine.restart();
    expect(await machine.orchestrator.observe(CART)).toMatchObject({
      generation: 1,
      readyInstances: 1,
      rollout: { kind: 'complete' },
    });
    await running(IMAGES.good, 1);
    expect(machine.pids()).toEqual(before);
  });

  test('is replaced although the orchestrator ends in the middle', async () => {
    await running(IMAGES.good, 1);
    for (let generation = 2; generation < 8; generation++) {
      await machine.orchestrator.reconcile(cart(IMAGES.good, generation));
      await observed((workload) => workload.generation === generation);
      await machine.restart();
    }
    expect(await observed(isComplete)).toMatchObject({ generation: 7, updatedInstances: 1 });
    await until(async () => instances().length === 1);
  });

  test('serves on when the next generation never becomes ready with its data, and says why', async () => {
    await running(IMAGES.good, 1);
    const [first] = instances();
    await machine.orchestrator.reconcile(cart(IMAGES.stuck, 2));
    const failed = await observed(
      ({ rollout, readyInstances }) => rollout.kind === 'failed' && readyInstances === 1,
    );
    expect(failed.detail).toBe('it was not ready 0.5 s after it had the data folder');
    expect(failed).toMatchObject({ generation: 2, updatedInstances: 0 });
    expect(instances().map(({ name }) => name)).toContain(first!.name);
    await running(IMAGES.good, 3);
    await until(async () => instances().length === 1);
  });

  test('hard case 29: is killed with all that it has started if it does not end when it is asked to', async () => {
    await running(IMAGES.stubborn, 1);
    const [pid] = machine.pids();
    await running(IMAGES.good, 2);
    expect(isProcessAlive(pid!)).toBe(false);
  });

  test('is left alone by files that no orchestrator has written', async () => {
    await running(IMAGES.good, 1);
    const folder = join(machine.folder, 'instances');
    mkdirSync(join(folder, 'strange'));
    writeFileSync(join(folder, 'strange', 'spec.json'), '{"version":1,"name":"strange"}');
    writeFileSync(join(folder, 'a-file'), '');
    writeFileSync(join(machine.folder, 'services', 'web', 'shop.json'), '{"torn');
    await machine.restart();
    await running(IMAGES.good, 2);
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(['strange', 'a-file']));
  });
});
