// Connections over TLS 1.3: what differs from TCP is how they end.
import { connect, type ConnectionOptions, createServer, type Server } from 'node:tls';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Connect } from '../../../http1/connections/connect.ts';
import { serveListener } from '../../../http1/connections/listener.ts';
import { Pool } from '../../../http1/connections/pool.ts';
import { CertificateAuthority } from '../../support/certificates/certificate-authority.ts';
import { Called } from './called.ts';
import { dial as dialTcp, listening, RawPeer } from './raw-peer.ts';
import { answerWhole, Served } from './served.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
let material: { key: string; cert: string; ca: string };

beforeAll(async () => {
  const authority = await CertificateAuthority.create('ca');
  const { certificate, key } = await authority.issue({ dnsNames: ['localhost'] });
  material = { key, cert: certificate, ca: authority.certificate };
});

function tlsServer(): Server {
  return createServer({ ...material, allowHalfOpen: true });
}

async function serve(): Promise<{ served: Served; dial: () => Promise<RawPeer> }> {
  const served = await new Served().listen(tlsServer());
  const dial = async (): Promise<RawPeer> => {
    const socket = connect(options(served.port));
    onTestFinished(() => void socket.destroy());
    await new Promise<void>((resolve) => socket.once('secureConnect', resolve));
    return new RawPeer(socket);
  };
  return { served, dial };
}

function options(port: number): ConnectionOptions & { allowHalfOpen: boolean } {
  return { port, host: '127.0.0.1', servername: 'localhost', ca: material.ca, allowHalfOpen: true };
}

/** Calls a server that keeps the sockets it accepts. */
async function call(): Promise<{ called: Called; peers: RawPeer[] }> {
  const called = new Called();
  const peers: RawPeer[] = [];
  const port = await listening(
    tlsServer().on('secureConnection', (socket) => peers.push(new RawPeer(socket))),
  );
  onTestFinished(() => {
    for (const { socket } of peers) socket.destroy();
  });
  const open: Connect = (onread, settled) => {
    const socket = connect({ ...options(port), onread } as ConnectionOptions);
    socket.once('secureConnect', () => settled({ socket }));
    return () => socket.destroy();
  };
  const { limits, times } = called;
  called.pool = new Pool({ connect: open, limits, times, sweep: called.clock.sweep });
  onTestFinished(() => called.pool.close());
  return { called, peers };
}

describe('a server', () => {
  it('answers on a connection that stays open', async () => {
    const { served, dial } = await serve();
    const client = (await dial()).write(GET + GET);
    for (const index of [0, 1]) answerWhole((await served.request(index)).exchange, `n${index}`);
    await client.has('n1');
    expect(client.text).toBe(
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nn0HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nn1',
    );
  });

  it.each(['1.0', '1.1'])('gives a broken response no valid end: HTTP/%s', async (version) => {
    const { served, dial } = await serve();
    const client = (await dial()).write(`GET / HTTP/${version}\r\nHost: a\r\n\r\n`);
    const { exchange } = await served.request(0);
    const sink = exchange.respond(200, 'OK', [], { kind: 'chunked' });
    sink.write(Buffer.from('abc'));
    await client.has('abc');
    sink.destroy();
    await client.closed();
    expect(client).toMatchObject({ hasEnded: false, error: { code: 'ECONNRESET' } });
  });

  it('lets a client that still sends read an early response', async () => {
    const { served, dial } = await serve();
    const client = await dial();
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n');
    const { exchange } = await served.request(0);
    const chunk = Buffer.alloc(200_000);
    const sending = setInterval(() => {
      if (!client.socket.destroyed && client.socket.writableLength < 1e6)
        client.socket.write(chunk);
    }, 1);
    answerWhole(exchange, 'no need');
    await client.end();
    clearInterval(sending);
    expect(client.text.endsWith('no need')).toBe(true);
    expect(client.error).toBeUndefined();
    served.clock.advance(2_000);
    await served.connections.empty();
  });
});

describe('a listener', () => {
  it('counts handshakes that are not finished', async () => {
    const served = new Served({ connectionsMax: 2 });
    const server = tlsServer();
    serveListener(server, served.connections);
    const port = await listening(server);
    const silent = [await dialTcp(port), await dialTcp(port)];
    const third = await dialTcp(port);
    await third.end();
    expect(silent.map(({ hasEnded, isClosed }) => hasEnded || isClosed)).toEqual([false, false]);
    expect(served.connections.count).toBe(0);
  });
});

describe('a client', () => {
  it('uses its connection again, and reads large responses whole', async () => {
    const { called, peers } = await call();
    for (const length of [3, 1_000_000, 0]) {
      const { response } = await called.send('GET');
      while (peers.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      peers[0]!.write(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(length)}`);
      await response.over;
      expect(response.log).toEqual(['200', 'end']);
      expect(response.text).toBe('x'.repeat(length));
    }
    expect(peers.length).toBe(1);
  });

  it('reads no faster than its receiver', async () => {
    const { called, peers } = await call();
    const { response, exchange } = await called.send('GET');
    while (peers.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    const [peer] = peers;
    const bytes = 32 * 1024 * 1024;
    let received = 0;
    response.data = (data) => {
      received += data.length;
      exchange.pause();
    };
    peer!.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n`);
    peer!.socket.end(Buffer.alloc(bytes));
    await response.begun;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(peer!.socket.writableLength).toBeGreaterThan(0);
    expect(received).toBeLessThan(200_000);
    response.data = (data) => {
      received += data.length;
    };
    exchange.resume();
    await response.over;
    expect(received).toBe(bytes);
  });

  it.each(['end', 'destroy'] as const)(
    'takes no broken response for a whole one: %s',
    async (how) => {
      const { called, peers } = await call();
      const { response } = await called.send('GET');
      while (peers.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      const length = how === 'end' ? '' : 'Content-Length: 5\r\n';
      peers[0]!.write(`HTTP/1.1 200 OK\r\n${length}\r\nabc`);
      await response.begun;
      peers[0]!.socket[how]();
      await response.over;
      expect(response.log).toEqual(['200', how === 'end' ? 'end' : 'closed-while-answering']);
    },
  );

  it('that cancels is noticed', async () => {
    const { called, peers } = await call();
    const { exchange } = await called.send('GET');
    while (peers[0]?.text !== GET) await new Promise((resolve) => setTimeout(resolve, 1));
    exchange.cancel();
    await peers[0].end();
    expect(called.pool.openCount).toBe(0);
  });
});
