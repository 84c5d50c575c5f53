// Instances in control groups, with real processes and plain files for the groups.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { InstanceCgroups } from '../../../control-plane/local/instance-cgroups.ts';
import type { LocalSection } from '../../../control-plane/local/local-section.ts';
import { StandInCgroups } from '../../support/stand-in-cgroups.ts';
import { CART, cart, isComplete, observed } from './cart.ts';
import { IMAGES, MachineUnderTest } from './machine-under-test.ts';
import { until } from './until.ts';

let machine: MachineUnderTest | undefined;
afterEach(async () => {
  await machine?.discard();
});

function machineWith(files: StandInCgroups, section: Partial<LocalSection> = {}): MachineUnderTest {
  return new MachineUnderTest({
    section,
    cgroups: (machineFolder) =>
      InstanceCgroups.open({
        cgroup: files.path,
        machineFolder,
        processesMax: 100,
        log: () => {},
        files,
      }),
  });
}

const descriptor = {
  name: 'cart',
  image: IMAGES.good,
  resources: { cpu: '2', memory: '1Gi' },
};
const limited = (generation = 1) => cart(IMAGES.good, generation, { descriptor });

test('an instance runs in a group with its limits, which a control plane that starts leaves, and which goes with the instance', async () => {
  const files = new StandInCgroups();
  machine = machineWith(files);
  await machine.orchestrator.reconcile(limited());
  expect((await observed(machine, isComplete)).detail).toBeUndefined();
  const [group] = files.groups;
  const read = (name: string) => readFileSync(join(files.path, group!, name), 'utf8');
  expect([read('cgroup.procs'), read('cpu.max'), read('memory.max')]).toEqual([
    '0\n',
    '200000 100000',
    String(1024 ** 3),
  ]);
  const [pid] = machine.pids();
  await machine.restart();
  await observed(machine, ({ readyInstances }) => readyInstances === 1);
  expect(machine.pids()).toEqual([pid]);
  expect(files.groups).toEqual([group]);
  await machine.orchestrator.reconcile({ kind: 'removed', key: CART });
  await until(async () => (await machine!.orchestrator.observe(CART)).kind === 'none');
  expect(files.groups).toEqual([]);
});

test('a control plane that starts removes the groups of instances that are gone', async () => {
  const files = new StandInCgroups();
  machine = machineWith(files);
  await machine.orchestrator.reconcile(limited());
  await observed(machine, isComplete);
  const [group] = files.groups;
  files.makeGroup(join(files.path, group!.replace(/-1-[0-9a-f]+$/, '-0-00000000')));
  await machine.restart();
  expect(files.groups).toEqual([group]);
});

test('detail says which resource the machine does not limit', async () => {
  machine = machineWith(new StandInCgroups(['cpu', 'pids']));
  await machine.orchestrator.reconcile(limited());
  const { detail } = await observed(machine, isComplete);
  expect(detail).toMatch(/^resources\.memory: .* this machine sets none for the process$/);
});

test('detail says that an instance was killed at its limit of memory', async () => {
  const files = new StandInCgroups();
  machine = machineWith(files, { restartPauseMs: 60_000, restartPauseMaxMs: 60_000 });
  await machine.orchestrator.reconcile(limited());
  await observed(machine, isComplete);
  const events = join(files.path, files.groups[0]!, 'memory.events');
  writeFileSync(events, 'oom 1\noom_kill 1\n');
  process.kill(machine.pids()[0]!, 'SIGKILL');
  const { detail } = await observed(
    machine,
    (now) => now.readyInstances === 0 && now.detail !== undefined,
  );
  expect(detail).toMatch(
    /^cart-1-\w+ has ended: it was killed, because it needed more memory than it may have \(resources\.memory: 1Gi\)$/,
  );
});
