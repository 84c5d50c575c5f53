// Finding the services of a developer's machine by their registrations: real files, and real programs that answer.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { RegistrationFinder } from '../../forward/registration-finder.ts';
import { RegistrationFile } from '../../kit/registration-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let instances = 0;

/** A program that has registered, and describes itself as a service at the address. */
async function registered(
  folder: string,
  name: string,
  {
    address = null,
    startedAt = '2026-01-01T00:00:00.000Z',
    describes = true,
  }: { address?: string | null; startedAt?: string; describes?: boolean },
) {
  const instanceId = `${++instances}`.padStart(16, '0');
  const asked: string[] = [];
  const server = createServer((incoming, outgoing) => {
    asked.push(incoming.url!);
    outgoing.end(
      JSON.stringify({
        instanceId: describes ? instanceId : 'another',
        instances: [{ address, shards: 1 }],
        routes: [],
      }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const file = new RegistrationFile(folder, {
    name,
    instanceId,
    pid: process.pid,
    observabilityAddress: `http://127.0.0.1:${port}`,
    startedAt,
  });
  const stop = async () => {
    file.remove();
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return { asked, stop };
}

function finderOf(folder: string) {
  const clock = { ms: 0 };
  const finder = new RegistrationFinder({ folder, now: () => clock.ms });
  onTestFinished(() => finder.close());
  return { finder, clock };
}

const cart = { service: 'cart', project: undefined };

describe('a registered service', () => {
  test('is found at the address that it describes, whatever project is named', async () => {
    const folder = temporaryFolder();
    const other = await registered(folder, 'cart-2', { address: 'http://127.0.0.1:5001' });
    const service = await registered(folder, 'cart', { address: 'http://localhost:5000' });
    const { finder } = finderOf(folder);
    const found = {
      kind: 'found',
      authority: '127.0.0.1:5000',
      takesAddressFromHost: false,
      addresses: [{ host: '127.0.0.1', port: 5000 }],
    };
    expect(await finder.find(cart)).toEqual(found);
    expect(await finder.find({ service: 'cart', project: 'bank' })).toEqual(found);
    await other.stop();
    await service.stop();
  });

  test('is asked once for requests at the same time, and again soon', async () => {
    const folder = temporaryFolder();
    const service = await registered(folder, 'cart', { address: 'http://[::1]:5000' });
    const { finder, clock } = finderOf(folder);
    await Promise.all(Array.from({ length: 20 }, async () => finder.find(cart)));
    expect(service.asked).toEqual(['/observability/service']);
    expect(await finder.find(cart)).toMatchObject({ authority: '[::1]:5000' });
    clock.ms = 499;
    await finder.find(cart);
    expect(service.asked).toHaveLength(1);
    clock.ms = 500;
    await finder.find(cart);
    finder.forget('cart');
    await finder.find(cart);
    expect(service.asked).toHaveLength(3);
    await service.stop();
  });

  test('is the one that has started last, of several that listen', async () => {
    const folder = temporaryFolder();
    const stops = [
      await registered(folder, 'cart', {
        address: 'http://127.0.0.1:5001',
        startedAt: '2026-01-01T00:00:00.000Z',
      }),
      await registered(folder, 'cart', {
        address: 'http://127.0.0.1:5002',
        startedAt: '2026-01-02T00:00:00.000Z',
      }),
      await registered(folder, 'cart', { address: null, startedAt: '2026-01-03T00:00:00.000Z' }),
    ];
    expect(await finderOf(folder).finder.find(cart)).toMatchObject({ authority: '127.0.0.1:5002' });
    for (const { stop } of stops) await stop();
  });
});

describe('nothing is found', () => {
  test('where no service of the name has registered, or no folder exists', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, '1.json'), '{"name": "cart"');
    const reason = 'no service of this name has registered';
    expect(await finderOf(folder).finder.find(cart)).toEqual({ kind: 'not-found', reason });
    expect(await finderOf(join(folder, 'none')).finder.find(cart)).toEqual({
      kind: 'not-found',
      reason,
    });
  });

  test.each([
    [
      'another program answers at its address',
      { address: 'http://127.0.0.1:5000', describes: false },
    ],
    ['it has no address', { address: null }],
    ['its address is not one of this machine', { address: 'http://192.0.2.1:5000' }],
  ])('where %s', async (_name, options) => {
    const folder = temporaryFolder();
    const service = await registered(folder, 'cart', options);
    expect(await finderOf(folder).finder.find(cart)).toEqual({
      kind: 'not-found',
      reason: 'it has registered, and does not listen',
    });
    await service.stop();
  });

  test('until the service starts', async () => {
    const folder = temporaryFolder();
    const { finder } = finderOf(folder);
    expect(await finder.find(cart)).toMatchObject({ kind: 'not-found' });
    const service = await registered(folder, 'cart', { address: 'http://127.0.0.1:5000' });
    expect(await finder.find(cart)).toMatchObject({ kind: 'found' });
    await service.stop();
  });
});
