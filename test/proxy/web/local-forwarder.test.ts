// LocalForwarder: its two ports open together, or neither does, and close one after the other.
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openLocalForwarder } from '../../../proxy/web/local-forwarder.ts';

const listening = () =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'TCPServerWrap').length;

test('a port that is taken leaves no other port open', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  onTestFinished(() => void other.close());
  const before = listening();
  const { port } = other.address() as AddressInfo;
  const opening = openLocalForwarder({
    name: 'shop',
    port,
    processPort: () => 1,
    mounts: [],
    runningFolder: undefined,
    log: () => {},
  });
  await expect(opening).rejects.toMatchObject({ code: 'SVC_PORT_IN_USE' });
  await expect.poll(listening).toBe(before);
});

test('a request that is in flight during the stop may still call services', async () => {
  const begun = Promise.withResolvers<() => void>();
  const web = createHttpServer((_request, response) =>
    begun.resolve(() => void response.end('late')),
  ).listen(0, '127.0.0.1');
  await once(web, 'listening');
  onTestFinished(() => void web.close());
  const forwarder = await openLocalForwarder({
    name: 'shop',
    port: 0,
    processPort: () => (web.address() as AddressInfo).port,
    mounts: [],
    runningFolder: undefined,
    log: () => {},
  });
  const response = fetch(forwarder.url);
  const finish = await begun.promise;
  const closed = forwarder.close();
  const call = await fetch(`${forwarder.servicesUrl}/cart/`);
  expect(await call.json()).toEqual({ error: expect.stringContaining('cart') as string });
  finish();
  expect(await (await response).text()).toBe('late');
  await closed;
  await expect(fetch(forwarder.servicesUrl)).rejects.toThrow('fetch failed');
});
