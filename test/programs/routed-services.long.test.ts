// The services of this machine behind the real gateway, while instances, control plane and gateway are replaced or killed.
import { beforeAll, expect, test, vi } from 'vitest';
import { observeState } from '../../kit/state-file.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { COUNTER, RoutedMachine } from '../support/gateway/routed-machine.ts';

const REPLACEMENTS = 5;
const POSTS_PER_SECOND = 100;
/** So few that the gateway can hold all of them while a control plane starts on a busy machine. */
const HELD_PER_SECOND = 10;
let module: Uint8Array;
beforeAll(async () => {
  module = await compileFixture('counter');
}, 120_000);

test('no request fails, and each counts once, while instances replace one another on one data folder', async () => {
  const routed = await RoutedMachine.start(module);
  const posts = routed.posts(POSTS_PER_SECOND);
  for (let count = 0; count < REPLACEMENTS; count++) await routed.replace();
  await posts.stop();
  expect(posts.failures).toEqual([]);
  expect(posts.sent).toBeGreaterThan(POSTS_PER_SECOND);
  expect(await routed.value()).toBe(posts.tookMs.length);
}, 240_000);

test('routes outlive a control plane that is killed, and a gateway that starts without one', async () => {
  const routed = await RoutedMachine.start(module);
  const { machine } = routed;
  const status = async () => (await routed.gateway.get(COUNTER, [], '/counters/one')).status;
  await routed.untilInFile();
  await machine.svc.end('SIGKILL');
  expect(await status()).toBe(200);
  await routed.killAndStartGateway();
  expect(await status()).toBe(200);
  await machine.killAndStart();
  await routed.gateway.svc.logged(/The gateway follows the orchestrator/);
  expect(await status()).toBe(200);
  // The control plane waits for the gateway before it replaces anything.
  const posts = routed.posts(POSTS_PER_SECOND);
  await routed.replace();
  await posts.stop();
  expect(posts.failures).toEqual([]);
  expect(await routed.value()).toBe(posts.tookMs.length);
}, 120_000);

test('no request fails while the control plane is killed again and again', async () => {
  const routed = await RoutedMachine.start(module);
  const posts = routed.posts(POSTS_PER_SECOND);
  for (let count = 0; count < 3; count++) {
    await routed.machine.killAndStart();
    await routed.gateway.svc.logged(/The gateway follows the orchestrator/);
  }
  await posts.stop();
  expect(posts.failures).toEqual([]);
  expect(await routed.value()).toBe(posts.tookMs.length);
}, 120_000);

test('no request fails, and each counts once, while the control plane is killed in the middle of replacements', async () => {
  const routed = await RoutedMachine.start(module);
  const { machine } = routed;
  const posts = routed.posts(HELD_PER_SECOND);
  const phases = () =>
    machine.instances().map(({ stateFile }) => {
      const found = observeState(stateFile);
      return 'state' in found ? found.state.phase : 'none';
    });
  for (const moment of ['prepared', 'stopping']) {
    const before = machine.instances()[0]!.spec.name;
    await routed.send('POST /services/shop/counter/restart');
    const replaced = () => machine.instances().every(({ spec }) => spec.name !== before);
    // A moment that passes too quickly to be seen is the end of the replacement.
    const options = { timeout: 90_000, interval: 5 };
    await vi.waitUntil(() => phases().includes(moment as 'prepared') || replaced(), options);
    await machine.killAndStart();
    await vi.waitUntil(replaced, options);
    await machine.untilOneInstance();
  }
  await posts.stop();
  expect(posts.failures).toEqual([]);
  expect(await routed.value()).toBe(posts.tookMs.length);
}, 300_000);
