// Readiness of instances on one machine, with real processes: it counts what an instance answers at /ready, not what stands in its state file.
import { expect, onTestFinished, test } from 'vitest';
import { cart, hasFailed, isComplete, observed, running } from './cart.ts';
import { IMAGES, MachineUnderTest, type MachineOptions } from './machine-under-test.ts';
import { until } from './until.ts';

let machine: MachineUnderTest;
function open(section: MachineOptions['section']): void {
  const quick = { readyTimeoutMs: 200, readyFailures: 2, ...section };
  machine = new MachineUnderTest({ hasDataFolder: true, section: quick });
  onTestFinished(() => machine.discard());
}
const apply = (image: string, generation: number) =>
  machine.orchestrator.reconcile(cart(image, generation));

test('an instance that is stopped is not ready, and is ready again when it goes on, as the same process', async () => {
  open({});
  await running(machine, IMAGES.good, 1);
  const [pid] = machine.pids();
  process.kill(pid!, 'SIGSTOP');
  const hurt = await observed(machine, ({ readyInstances }) => readyInstances === 0);
  expect(hurt).toMatchObject({ rollout: { kind: 'complete' } });
  await observed(machine, ({ detail }) => detail?.includes('does not answer at /ready') === true);
  process.kill(pid!, 'SIGCONT');
  await observed(machine, ({ readyInstances }) => readyInstances === 1);
  await observed(machine, ({ detail }) => detail === undefined);
  expect(machine.pids()).toEqual([pid]);
});

test('an instance that does not answer for long is killed and started again', async () => {
  open({ silenceMs: 400 });
  await running(machine, IMAGES.good, 1);
  const [pid] = machine.pids();
  process.kill(pid!, 'SIGSTOP');
  await observed(machine, ({ detail }) => detail?.includes('/ready for 0.4 s') === true);
  await observed(machine, ({ readyInstances }) => readyInstances === 1);
  expect(machine.pids()).not.toContain(pid);
});

test('an instance that answers that it is not ready is neither ready nor killed', async () => {
  open({ readyTimeoutMs: 5000, silenceMs: 2000, progressTimeoutMs: 3000 });
  await apply(IMAGES.unready, 1);
  const { detail, readyInstances } = await observed(machine, hasFailed);
  expect(detail).toMatch(/not got on for 3 s: cart-1-\w+ is not ready$/);
  expect(readyInstances).toBe(0);
  expect(machine.instances()[0]!.lastRun!.restarts).toBe(0);
  await apply(IMAGES.good, 2);
  await observed(machine, isComplete);
});

test('a next generation that only says in its file that it is ready fails, and the former one serves on', async () => {
  open({});
  await running(machine, IMAGES.good, 1);
  await apply(IMAGES.deaf, 2);
  const failed = await observed(machine, hasFailed);
  expect(failed.detail).toMatch(
    /^it was not ready 0.5 s after it had the data folder: cart-2-\w+ does not answer/,
  );
  await observed(machine, ({ readyInstances }) => readyInstances === 1);
});

test('a control plane that starts takes no instance out of service before it has asked it', async () => {
  open({});
  await running(machine, IMAGES.good, 1);
  process.kill(machine.pids()[0]!, 'SIGSTOP');
  await observed(machine, ({ readyInstances }) => readyInstances === 0);
  await machine.restart();
  expect(await observed(machine, () => true)).toMatchObject({ readyInstances: 1 });
  await observed(machine, ({ readyInstances }) => readyInstances === 0);
  process.kill(machine.pids()[0]!, 'SIGCONT');
  await until(async () => (await observed(machine, () => true)).readyInstances === 1);
});
