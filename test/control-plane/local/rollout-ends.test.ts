// How rollouts on one machine end, with real processes: which failures are final, how long the others are waited for, what is said of
// them, and that no clock of the wall decides on any of it.
import { expect, onTestFinished, test } from 'vitest';
import { LOCAL_CLOCK } from '../../../control-plane/local/local-clock.ts';
import { SVC_ERROR_CODES } from '../../../kit/svc-error.ts';
import { isFinalFailure } from '../../../control-plane/local/instance-end.ts';
import { CART, cart, hasFailed, isComplete, observed, running } from './cart.ts';
import { IMAGES, MachineUnderTest, type MachineOptions } from './machine-under-test.ts';
import { until } from './until.ts';

let machine: MachineUnderTest;
function open(options: MachineOptions = {}): void {
  machine = new MachineUnderTest({ hasDataFolder: true, ...options });
  onTestFinished(() => machine.discard());
}

const DAY_MS = 24 * 3_600_000;
const apply = (image: string, generation: number, more = {}) =>
  machine.orchestrator.reconcile(cart(image, generation, more));
const restarts = () => machine.instances().at(-1)?.lastRun?.restarts ?? 0;

test('a module that is refused fails the rollout at once, with its code, and the former generation serves on', async () => {
  open();
  await running(machine, IMAGES.good, 1);
  const before = machine.pids();
  await apply(IMAGES.refused, 2);
  const failed = await observed(machine, hasFailed);
  expect(failed.detail).toMatch(/^cart-2-\w+ has ended: SVC_MODULE_MALFORMED: it fails$/);
  expect(failed.readyInstances).toBe(1);
  expect(machine.pids()).toEqual(expect.arrayContaining([...before]));
});

test('a failure that may go by itself is tried again, until the rollout has not got on for too long', async () => {
  open({ section: { progressTimeoutMs: 4000 } });
  await apply(IMAGES.unreadable, 1);
  await until(async () => restarts() >= 1);
  const failed = await observed(machine, hasFailed);
  expect(failed.detail).toMatch(
    /^the rollout has not got on for 4 s: cart-1-\w+ has ended: SVC_MODULE_UNREADABLE: it fails$/,
  );
  await apply(IMAGES.good, 2);
  await observed(machine, isComplete);
});

test('an instance that ends without a word is described by its exit and its last line', async () => {
  open();
  await apply(IMAGES.silent, 1);
  const { detail } = await observed(machine, ({ detail: text }) => text !== undefined);
  expect(detail).toMatch(
    /has ended: exit code 7; its last line: silent has started$|it ended without saying why, or was killed/,
  );
});

test('hard case 20: an image that stays away fails the rollout after a while', async () => {
  open({ section: { progressTimeoutMs: 300 } });
  await apply(IMAGES.missing, 1);
  const failed = await observed(machine, hasFailed);
  expect(failed.detail).toBe(
    'the rollout has not got on for 0.3 s: cannot pull svc.test/missing:1: not found',
  );
});

test('what was wrong is no longer said once the service is as it should be', async () => {
  open();
  await running(machine, IMAGES.good, 1);
  process.kill(machine.pids()[0]!, 'SIGKILL');
  await observed(machine, ({ detail }) => detail?.includes('has ended') === true);
  const recovered = await observed(machine, ({ readyInstances }) => readyInstances === 1);
  await observed(machine, ({ detail }) => detail === undefined);
  expect(recovered.rollout.kind).toBe('complete');
});

test('a generation that was ready once is started again, whatever it reports later, also after a pause', async () => {
  open();
  await running(machine, 'svc.test/later_SVC_SETTING_INVALID:1', 1);
  process.kill(machine.pids()[0]!, 'SIGKILL');
  await until(async () => restarts() >= 2);
  expect(await machine.orchestrator.observe(CART)).toMatchObject({ rollout: { kind: 'complete' } });
  await apply('svc.test/later_SVC_SETTING_INVALID:1', 1, { instances: 0, isPaused: true });
  await until(async () => machine.instances().length === 0);
  await apply('svc.test/later_SVC_SETTING_INVALID:1', 1);
  await until(async () => restarts() >= 1);
  expect(await machine.orchestrator.observe(CART)).toMatchObject({
    rollout: { kind: 'progressing' },
  });
});

test('only failures count as final that another start cannot help', () => {
  expect(SVC_ERROR_CODES.filter(isFinalFailure)).toMatchInlineSnapshot(`
    [
      "SVC_MODULE_NOT_WASM",
      "SVC_MODULE_NOT_A_COMPONENT",
      "SVC_MODULE_MALFORMED",
      "SVC_MODULE_TOO_LARGE",
      "SVC_MODULE_FOREIGN_IMPORT",
      "SVC_MODULE_OTHER_VERSION",
      "SVC_MODULE_NO_DESCRIPTOR",
      "SVC_MODULE_BAD_DESCRIPTOR",
      "SVC_MODULE_STRUCTURE",
      "SVC_MODULE_UNSUPPORTED_CODE",
      "SVC_MODULE_BAD_NAME",
      "SVC_MODULE_START_FAILED",
      "SVC_DEFINITION_INVALID",
      "SVC_PROGRAM_INVALID",
      "SVC_MANIFEST_UNREADABLE",
      "SVC_UPGRADE_UNSAFE",
      "SVC_PROCESS_INVALID",
      "SVC_USAGE",
      "SVC_SETTING_INVALID",
      "SVC_CONFIGURATION_INVALID",
    ]
  `);
  expect(isFinalFailure('SVC_CONFIGURATION_UNREADABLE')).toBe(false);
  expect(isFinalFailure(undefined)).toBe(false);
});

test('a clock that is set a day forth or back ends nothing, starts nothing and fails no rollout', async () => {
  let offMs = 0;
  const clock = { ...LOCAL_CLOCK, nowMs: () => Date.now() + offMs };
  open({ clock, section: { takeoverTimeoutMs: 60_000 } });
  await running(machine, IMAGES.good, 1);
  const before = machine.pids();
  for (offMs of [DAY_MS, -DAY_MS, 0]) {
    await machine.restart();
    await observed(machine, ({ readyInstances }) => readyInstances === 1);
    expect(machine.pids()).toEqual(before);
  }
  offMs = -DAY_MS;
  await apply(IMAGES.stuck, 2);
  for (offMs of [DAY_MS, -DAY_MS]) {
    const { rollout } = await observed(machine, ({ generation }) => generation === 2);
    const sinceMs = rollout.kind === 'progressing' ? rollout.sinceMs : Number.NaN;
    expect(Math.abs(clock.nowMs() - sinceMs)).toBeLessThan(60_000);
  }
  // The instance of the next generation is younger, although the clock was set back.
  await until(async () => machine.instances().length === 2);
  expect(machine.instances().map(({ spec }) => spec.generation)).toEqual([1, 2]);
  offMs = 0;
  await running(machine, IMAGES.good, 3);
});
