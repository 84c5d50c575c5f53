// Calls of a service that is being replaced, on raw sockets: they wait within bounds, and nothing is sent that could be lost.
import { expect, test } from 'vitest';
import { ForwardingPorts } from './support/forwarding-ports.ts';
import { proxyAnswer, RawListener, type RawPeer } from './support/raw-peer.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const POST = ['POST /cart/x HTTP/1.1', 'Host: a', 'Content-Length: 2', '', 'ab'];

/** Serves the next request of a listener, which has the body of the calls. */
async function serve(listener: RawListener): Promise<void> {
  const service = await listener.next();
  expect((await service.message()).body).toBe('ab');
  service.write(OK);
}

const bodyAt = async (client: RawPeer) => (await client.message()).body;

/** A port at which nobody listens. */
async function closedPort(): Promise<number> {
  const closed = await RawListener.open();
  await closed.close();
  return closed.port;
}

test('calls and requests under a mount wait while their service is held, and go to its next instance', async () => {
  const ports = await ForwardingPorts.open({ mounts: [{ path: '/cart', service: 'cart' }] });
  const former = await RawListener.open();
  const next = await RawListener.open();
  ports.services.set('cart', [former.port]);
  ports.held.add('cart');
  const clients = [await ports.call(...POST), await ports.request(...POST)];
  await expect.poll(() => ports.waiting).toBe(2);
  ports.services.set('cart', [next.port]);
  ports.release('cart');
  await serve(next);
  await serve(next);
  expect(await Promise.all(clients.map(bodyAt))).toEqual(['ok', 'ok']);
  expect(former.accepted).toBe(0);
});

test.each([
  ['is held by then', true],
  ['has its next instance by then', false],
])(
  'a call whose connection was refused goes to the next instance, if the service %s',
  async (_, isHeld) => {
    const ports = await ForwardingPorts.open();
    const next = await RawListener.open();
    ports.services.set('cart', [await closedPort()]);
    ports.onFind = (count) => {
      if (count !== 2) return;
      if (isHeld) ports.held.add('cart');
      else ports.services.set('cart', [next.port]);
    };
    const client = await ports.call(...POST);
    await expect.poll(() => ports.finds).toBe(2);
    ports.services.set('cart', [next.port]);
    if (isHeld) ports.release('cart');
    await serve(next);
    expect(await bodyAt(client)).toBe('ok');
    expect(ports.reports).toEqual([]);
  },
);

test('a service is not looked for without an end', async () => {
  const ports = await ForwardingPorts.open();
  const closed = [await closedPort(), await closedPort()];
  ports.onFind = (count) => ports.services.set('cart', [closed[count % 2]!]);
  const client = await ports.call(...POST);
  expect(await proxyAnswer(client)).toBe('503 The service shop/cart is not listening.');
  expect(ports.finds).toBe(4);
});

test('a call is held within its time and bounds, and a client that leaves makes room', async () => {
  const limits = { heldOfServiceMax: 2, heldMs: 800 };
  const ports = await ForwardingPorts.open({ limits });
  ports.held.add('cart');
  const [leaving, staying] = [await ports.call(...POST), await ports.call(...POST)];
  await expect.poll(() => ports.waiting).toBe(2);
  const refused = await ports.call(...POST);
  const head = await refused.head();
  expect(head[0]).toBe('HTTP/1.1 503 Service Unavailable');
  expect(head).toContain('Retry-After: 1');
  expect(head).toContain('X-Svc-Answered-By: proxy');
  leaving.socket.resetAndDestroy();
  await expect.poll(() => ports.waiting).toBe(1);
  const another = await ports.call(...POST);
  const late = 'The service shop/cart is being replaced, and its next instance is not ready yet.';
  expect(await proxyAnswer(staying)).toBe(`503 ${late}`);
  expect(await proxyAnswer(another)).toBe(`503 ${late}`);
  expect(ports.waiting).toBe(0);
});
