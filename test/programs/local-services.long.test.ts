// `svc control-plane` on one machine: refused modules and missing images, pauses, deletions, descriptors that it cannot run.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { addToCounter as add, isReady, LocalMachine } from '../support/local-machine.ts';

let provider: IdentityProvider;
let module: Uint8Array;

beforeAll(async () => {
  provider = await IdentityProvider.start();
  module = await compileFixture('counter');
});
afterAll(() => provider.stop());

test('a module that is refused, and an image that is none, leave the service as it was, and the status says why', async () => {
  const machine = await new LocalMachine(provider).withProject();
  await machine.store('counter', module);
  await machine.store('broken', Buffer.from('\0asm and nothing else'));
  await machine.apply();
  await machine.until(isReady(1));

  await machine.apply('broken');
  const refused = await machine.until(({ lifecycle }) => lifecycle === 'failed');
  expect(refused).toMatchObject({ generation: 2, readyInstances: 1 });
  expect(refused.detail).toMatch(/^counter-2-[0-9a-f]{8} has ended: SVC_MODULE_\w+: /);
  expect(await add(machine.url, 1)).toEqual({ value: 1 });

  await machine.apply('nowhere');
  const missing = await machine.until(({ detail }) => detail?.includes('nowhere') ?? false);
  expect(missing).toMatchObject({ generation: 3, readyInstances: 1, lifecycle: 'failed' });
  expect(missing.detail).toContain('SVC_IMAGE_MISSING');
  // The image comes later, and is applied again.
  await machine.store('nowhere', module);
  const { generation } = await machine.apply('nowhere');
  await machine.until(isReady(generation));
  expect(await add(machine.url, 1)).toEqual({ value: 2 });
});

test('a paused service runs nowhere, and a service that is applied again after its deletion has its data', async () => {
  const machine = await new LocalMachine(provider).withProject();
  await machine.store('counter', module);
  await machine.apply();
  await machine.until(isReady(1));
  await add(machine.url, 7);

  await machine.svc.send('POST /services/shop/counter/pause', 'ann');
  await machine.until(
    ({ lifecycle, readyInstances }) => lifecycle === 'paused' && readyInstances === 0,
  );
  expect((await machine.svc.send('GET /services/shop/counter/logs', 'ann')).status).toBe(404);
  await machine.svc.send('POST /services/shop/counter/resume', 'ann');
  await machine.until(({ lifecycle }) => lifecycle === 'ready');
  const logs = await machine.svc.send('GET /services/shop/counter/logs?tail=1000', 'ann');
  expect(JSON.stringify(logs.body)).toContain('listening');

  await machine.svc.send('DELETE /services/shop/counter', 'ann');
  const { generation } = await machine.apply();
  await machine.until(isReady(generation));
  expect(await add(machine.url, 1)).toEqual({ value: 8 });
});

test('a descriptor that this machine cannot run is refused before anything is stored', async () => {
  const machine = await new LocalMachine(provider).withProject();
  const descriptor = { name: 'counter', image: 'shop/counter:1', instances: 2, runtime: '99.0.0' };
  const { status, body } = await machine.svc.send('PUT /services/shop/counter', 'ann', descriptor);
  expect(status).toBe(400);
  expect((body as { error: string }).error.split('\n').map((line) => line.split(':')[0])).toEqual([
    'hosting',
    'instances',
    'runtime',
  ]);
  expect((await machine.svc.send('GET /services/shop/counter', 'ann')).status).toBe(404);
});
