// Connections to a Unix domain socket, which have no address and cannot be reset.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { serveListener } from '../../../http1/connections/listener.ts';
import { CertificateAuthority } from '../../support/certificates/certificate-authority.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { RawPeer } from './raw-peer.ts';
import { Served } from './served.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const ANSWER = /hello$/;

/** Serves a socket, and answers the first requests. Returns its file. */
async function serve(answered: number, tls?: { readonly key: string; readonly cert: string }) {
  const served = new Served();
  served.receives = false;
  served.onRequest = (exchange) => {
    if (served.seen.length <= answered)
      exchange.answer({ status: 200, reason: 'OK', fields: [], body: 'hello' });
  };
  const server = tls === undefined ? createServer() : createTlsServer(tls);
  serveListener(server, served.connections);
  const file = join(temporaryFolder(), 'served.sock');
  server.listen(file);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { served, file };
}

function peerOf(socket: ReturnType<typeof connect>): RawPeer {
  onTestFinished(() => void socket.destroy());
  return new RawPeer(socket);
}

test('a connection is served, and closed when it is cut', async () => {
  const { served, file } = await serve(1);
  const peer = peerOf(connect(file)).write(GET);
  await peer.until(() => ANSWER.test(peer.text), 'the answer');
  peer.write(GET);
  const seen = await served.request(1);
  const { connections } = served;
  expect(connections.cut()).toBe(true);
  await peer.closed();
  expect([connections.count, seen.isGone, peer.error]).toEqual([0, true, undefined]);
});

test('with TLS, a connection that is cut takes no other one with it', async () => {
  const authority = await CertificateAuthority.create('ca');
  const { certificate: cert, key } = await authority.issue({ dnsNames: ['localhost'] });
  const { served, file } = await serve(3, { key, cert });
  const options = { ca: authority.certificate, servername: 'localhost' };
  // All are accepted before the first handshake ends.
  const raws = [connect(file), connect(file), connect(file)];
  await Promise.all(raws.map((raw) => once(raw, 'connect')));
  const peers = raws.map((socket) => peerOf(connectTls({ socket, ...options })).write(GET));
  for (const peer of peers) await peer.until(() => ANSWER.test(peer.text), 'the answer');
  const [first] = [...served.connections];
  first!.cut();
  await served.until(() => peers.some(({ isClosed }) => isClosed), 'the end of one connection');
  const others = peers.filter(({ isClosed }) => !isClosed);
  expect(others).toHaveLength(2);
  for (const [index, peer] of others.entries()) {
    peer.write(GET);
    await served.request(3 + index);
    expect(peer.isClosed).toBe(false);
  }
});
