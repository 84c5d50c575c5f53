// Mutual TLS over a Unix domain socket, whose clients have no address: each connection has its own generation of certificates.
import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import { join } from 'node:path';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { ServerTls } from '../../identity/server-tls.ts';
import {
  ca,
  CART,
  generationsOf,
  ORDERS,
  otherCa,
  RULES,
  textsOf,
} from '../support/certificates/test-identities.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A server that answers each byte with the generation of the connection. */
async function serve() {
  const source = generationsOf(await textsOf(CART, ca, [ca, otherCa]));
  const tls = new ServerTls(source, { rules: RULES });
  const server = createServer(tls.serverOptions);
  onTestFinished(tls.attach(server));
  server.on('secureConnection', (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write(String(tls.peerOf(socket).term.generation)));
  });
  const file = join(temporaryFolder(), 'cart.sock');
  server.listen(file);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { source, tls, file };
}

/** Connects, and is accepted. */
async function begin(file: string, tls: ServerTls) {
  const before = tls.handshakes;
  const socket = connectPlain(file);
  onTestFinished(() => void socket.destroy());
  await expect.poll(() => tls.handshakes, { interval: 1 }).toBe(before + 1);
  return socket;
}

async function generationOf(socket: ReturnType<typeof connectPlain>): Promise<string> {
  const { certificate: cert, key, authorities } = await textsOf(ORDERS);
  const options = { cert, key, ca: authorities, checkServerIdentity: () => undefined };
  const secure: TLSSocket = connect({ socket, ...options });
  onTestFinished(() => void secure.destroy());
  secure.write('x');
  const [answer] = (await once(secure, 'data')) as [Buffer];
  return answer.toString();
}

test('connections keep the generation with which they began, in whatever order their handshakes end', async () => {
  const { source, tls, file } = await serve();
  const [first, second] = [await begin(file, tls), await begin(file, tls)];
  source.offer(await textsOf(CART, ca, [ca]), Date.now());
  const third = await begin(file, tls);
  expect(await generationOf(third)).toBe('2');
  expect(await generationOf(first)).toBe('1');
  expect(await generationOf(second)).toBe('1');
  expect(tls.handshakes).toBe(0);
});

test('all handshakes that are under way are cut, and those that fail are forgotten', async () => {
  const { tls, file } = await serve();
  const sockets = [await begin(file, tls), await begin(file, tls)];
  const closed = sockets.map((socket) => once(socket.resume(), 'close'));
  tls.cutHandshakes();
  await Promise.all(closed);
  await expect.poll(() => tls.handshakes, { interval: 1 }).toBe(0);
  const failing = await begin(file, tls);
  failing.on('error', () => undefined).end('no TLS');
  await expect.poll(() => tls.handshakes, { interval: 1 }).toBe(0);
});
