// The proxy fails as a network does: it never exchanges bytes, and one side of a half-open connection notices nothing.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { TcpFaultProxy } from '../support/tcp-fault-proxy.ts';

async function joined() {
  const accepted = Promise.withResolvers<Socket>();
  const server = createServer(accepted.resolve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = await TcpFaultProxy.to((server.address() as AddressInfo).port);
  const client = connect(proxy.port, '127.0.0.1');
  // Connections are reset by the proxy.
  client.on('error', () => undefined);
  client.write('1');
  const other = await accepted.promise;
  other.on('error', () => undefined);
  onTestFinished(async () => {
    await proxy.close();
    server.close();
  });
  return { proxy, client, other };
}

/** Resolves once a connection is closed, with an error or without one. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
  });
}

test('bytes arrive in their order when a delay ends', async () => {
  const { proxy, client, other } = await joined();
  proxy.delay(100);
  client.write('2');
  // The proxy has read it once a connection that was made later is there.
  const later = connect(proxy.port, '127.0.0.1');
  await once(later, 'connect');
  later.destroy();
  proxy.delay(0);
  client.end('3');
  expect(await textOf(other)).toBe('123');
});

test.each(['client', 'server'] as const)(
  'the %s of a half-open connection notices nothing until it is reset',
  async (side) => {
    const { proxy, client, other } = await joined();
    const [stays, ends] = side === 'client' ? [client, other] : [other, client];
    const ended = closed(ends);
    proxy.leaveHalfOpen(side);
    await ended;
    // What it sends leads nowhere.
    await new Promise((resolve) => {
      stays.write('lost', resolve);
    });
    expect(stays.destroyed).toBe(false);
    const reset = closed(stays);
    proxy.reset();
    await reset;
  },
);
