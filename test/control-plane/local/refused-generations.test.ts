// Generations that the installed version of svc does not run, with real processes: they are compared before anything is started, also
// from what is kept on disk, and run by themselves once another version is installed.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { LOCAL_CLOCK } from '../../../control-plane/local/local-clock.ts';
import { LOCAL_DEFAULTS } from '../../../control-plane/local/local-section.ts';
import { cart, hasFailed, isComplete, observed, running } from './cart.ts';
import { IMAGES, MachineUnderTest, type MachineOptions } from './machine-under-test.ts';
import { until } from './until.ts';

const LABELS = { [IMAGES.good]: '1.4.0', [IMAGES.other]: '1.5.0' };
const DESCRIPTOR = { name: 'cart', image: IMAGES.good };

let installed: string;
/** Number of times that the installed version was compared with a service. */
let compared = 0;
let machine: MachineUnderTest;
function open(options: MachineOptions = {}): void {
  installed = '1.4.2';
  machine = new MachineUnderTest({
    hasDataFolder: true,
    version: () => {
      compared++;
      return installed;
    },
    labels: LABELS,
    // An instance that is started again would have been by the next look.
    section: { restartPauseMs: 1 },
    ...options,
  });
  onTestFinished(() => machine.discard());
}
const apply = (image: string, generation: number, more = {}) =>
  machine.orchestrator.reconcile(cart(image, generation, more));
/** Starts another control plane, as after the installation of a version; nobody has asked it for the service yet. */
async function install(version: string): Promise<void> {
  installed = version;
  await machine.restart();
}
const kill = (pid = machine.pids()[0]!) => process.kill(pid, 'SIGKILL');
const restarts = () => machine.instances().at(-1)!.lastRun!.restarts;
const recordFile = () => join(machine.folder, 'services', 'web', 'cart.json');

/** Resolves once what is refused was looked at again several times. */
async function looks(): Promise<void> {
  const before = compared;
  await until(async () => compared > before + 5);
}

test('an image of a newer svc fails at once, the former generation serves on, and it runs once that svc is installed', async () => {
  open();
  await running(machine, IMAGES.good, 1);
  const before = machine.pids();
  await apply(IMAGES.other, 2);
  const failed = await observed(machine, hasFailed);
  expect(failed.detail).toBe(
    'image: was built by svc 1.5.0: this installation has svc 1.4.2, which is older. Build the image with svc 1.4.2 or an earlier 1.x, or ask its operator to upgrade svc',
  );
  expect(failed).toMatchObject({ generation: 2, readyInstances: 1, updatedInstances: 0 });
  await looks();
  expect(machine.pids()).toEqual(before);
  await install('1.5.0');
  expect(await observed(machine, isComplete)).toMatchObject({ generation: 2, readyInstances: 1 });
});

test.each([
  ['the label of its image', { runtime: '1.0.0' }, '1.3.0', /^image: was built/],
  [
    'its descriptor',
    { image: 'svc.test/good:3', runtime: '1.4.1' },
    '1.4.0',
    /^runtime: is 1\.4\.1: /,
  ],
])(
  'an instance that an older svc may not run by %s is not started again, until the newer one is back',
  async (_, declared, older, reason) => {
    open();
    await apply(IMAGES.good, 1, { descriptor: { ...DESCRIPTOR, ...declared } });
    await observed(machine, isComplete);
    const before = machine.pids();
    await install(older);
    // What runs goes on.
    expect(await observed(machine, isComplete)).toMatchObject({ readyInstances: 1 });
    expect(machine.pids()).toEqual(before);
    kill();
    const failed = await observed(machine, hasFailed);
    expect(failed).toMatchObject({ readyInstances: 0, detail: expect.stringMatching(reason) });
    expect(failed.detail).toContain(`this installation has svc ${older}`);
    await looks();
    expect(restarts()).toBe(0);
    await install('1.4.2');
    const again = await observed(machine, ({ readyInstances }) => readyInstances === 1);
    expect(again.rollout.kind).toBe('complete');
    expect(restarts()).toBe(1);
  },
);

test('a rollout that waits for another svc is not late, and has its whole time once that is installed', async () => {
  let offMs = 0;
  open({ clock: { ...LOCAL_CLOCK, bootMs: () => LOCAL_CLOCK.bootMs() + offMs } });
  await apply(IMAGES.other, 1);
  await observed(machine, hasFailed);
  offMs = 2 * LOCAL_DEFAULTS.progressTimeoutMs;
  await looks();
  expect((await observed(machine, hasFailed)).detail).toMatch(/^image: was built by svc 1\.5\.0/);
  await install('1.5.0');
  expect((await observed(machine, isComplete)).readyInstances).toBe(1);
});

test('a former instance that an older svc may not run is not started again in place of a generation that has failed', async () => {
  open();
  await running(machine, IMAGES.good, 1);
  await apply(IMAGES.refused, 2);
  await observed(machine, hasFailed);
  await install('1.3.0');
  await observed(machine, ({ readyInstances }) => readyInstances === 1);
  kill();
  await observed(machine, ({ readyInstances }) => readyInstances === 0);
  await looks();
  expect(machine.instances().map(({ lastRun }) => lastRun!.restarts)).toEqual([0, 0]);
  await install('1.4.2');
  await observed(machine, ({ readyInstances }) => readyInstances === 1);
});

test('a service that cannot be started any more can be paused', async () => {
  open();
  const descriptor = { ...DESCRIPTOR, runtime: '1.4.2' };
  await apply(IMAGES.good, 1, { descriptor });
  await observed(machine, isComplete);
  await install('1.4.0');
  await expect(apply(IMAGES.good, 1, { descriptor })).rejects.toThrow('this installation has');
  await apply(IMAGES.good, 1, { descriptor, instances: 0, isPaused: true });
  await until(async () => machine.instances().length === 0);
});

test('a record and an instance of an earlier version, which know no label, are started', async () => {
  open();
  await running(machine, IMAGES.good, 1);
  await machine.orchestrator[Symbol.asyncDispose]();
  const spec = join(machine.instances()[0]!.path, 'spec.json');
  for (const file of [recordFile(), spec]) {
    const text = readFileSync(file, 'utf8');
    const former = text.replace(/,"(runtime|imageRuntime)":"1.4.0"/, '');
    expect(former).not.toBe(text);
    writeFileSync(file, former);
  }
  installed = '1.3.0';
  machine.orchestrator = machine.open();
  kill();
  await until(async () => restarts() === 1);
  expect(await observed(machine, ({ readyInstances }) => readyInstances === 1)).toMatchObject({
    rollout: { kind: 'complete' },
  });
});
