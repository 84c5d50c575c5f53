// Pods of two services that call one another are replaced one by one, and their certificates and authority are rotated, while
// clients send requests. No request fails, and each POST is done once.
import { writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CertificateAuthority } from '../support/certificates/certificate-authority.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ORDERS, RollingLoad } from '../support/web-pods/rolling-load.ts';
import { RollingServices, type StartCart } from '../support/web-pods/rolling-services.ts';
import { eventsOf, startComponent, startWebServer } from '../support/web-pods/served-pods.ts';

/**
 * Replaces the pods of both services, and rotates leaf and authority, under load; then stops all pods. Returns the ids of the
 * orders that were posted.
 */
async function postedWhileRolling(startCart: StartCart): Promise<readonly string[]> {
  const first = await CertificateAuthority.create('first');
  const second = await CertificateAuthority.create('second');
  const services = new RollingServices(temporaryFolder(), first, startCart);
  onTestFinished(async () => services.kill());
  await Promise.all([
    services.add('web'),
    services.add('web'),
    services.add('cart'),
    services.add('cart'),
  ]);
  const load = new RollingLoad(services);
  await load.identify(first, [first]);
  load.start();

  await Promise.all([services.replaceOldest('web'), services.replaceOldest('cart')]);
  await services.rotate(first, [first]);
  await services.rotate(first, [first, second]);
  await load.identify(second, [first, second]);
  await services.rotate(second, [first, second]);
  await services.rotate(second, [second]);
  services.authority = second;
  await Promise.all([services.replaceOldest('web'), services.replaceOldest('cart')]);
  await load.stop();
  await services.stop();

  expect(load.failures).toEqual([]);
  expect(Math.min(load.posts.length, load.gets)).toBeGreaterThan(100);
  return load.posts.toSorted();
}

test('P32: pods are replaced, and leaf and authority rotated, under load, and no request fails or is done twice', async () => {
  const received: string[] = [];
  const respond = (): RequestListener => (incoming, response) => {
    incoming.resume().on('end', () => {
      if (incoming.method === 'POST') received.push(incoming.url!.slice(ORDERS.length + 1));
      setTimeout(() => response.end('done'), 20 * Math.random());
    });
  };
  const settings = { 'svc.proxy.callers': 'web' };
  const posted = await postedWhileRolling(async (start) =>
    startWebServer(start, { settings, respond }),
  );
  expect(received.toSorted()).toEqual(posted);
});

test('P32: the same for pods of a component that web calls and mounts', async () => {
  const module = join(temporaryFolder(), 'counter.wasm');
  writeFileSync(module, await compileFixture('counter'));
  const folders: string[] = [];
  const posted = await postedWhileRolling(async (start) => {
    folders.push(start.folder);
    return startComponent(start, module);
  });
  // Each pod has a journal of its own. An order that was done twice has two events, or is in two journals.
  const events = folders.flatMap((folder) => [...eventsOf(folder, 'counter')]);
  expect(events.toSorted(byId)).toEqual(posted.map((id) => [id, 1]));
});

function byId([one]: readonly [string, number], [other]: readonly [string, number]): number {
  return one < other ? -1 : 1;
}
