// The services of this machine behind the real gateway: what of them is reached.
import { beforeAll, expect, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { COUNTER, RoutedMachine } from '../support/gateway/routed-machine.ts';

let module: Uint8Array;
beforeAll(async () => {
  module = await compileFixture('counter');
}, 120_000);

test('what members change reaches the gateway without a restart', async () => {
  const routed = await RoutedMachine.start(module);
  const body = async () => (await routed.gateway.get(COUNTER, [], '/counters/one')).body;
  await routed.send('POST /services/shop/counter/pause');
  await routed.until(503);
  expect(await body()).toContain('paused');
  await routed.send('POST /services/shop/counter/unexpose');
  await routed.until(404);
  await routed.send('POST /services/shop/counter/resume');
  await routed.send('POST /services/shop/counter/expose');
  await routed.until(200);
  await routed.send('DELETE /services/shop/counter');
  await routed.until(404);
}, 60_000);
