// Clients that end their side of a connection: they wait for their responses, or have left. TCP reports both in the same way.
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { EventEmitter } from 'node:events';
import { beforeAll, describe, expect, it, onTestFinished, test } from 'vitest';
import { HalfClose } from '../../../http1/connections/half-close.ts';
import { Output } from '../../../http1/connections/output.ts';
import type { OpenExchange } from '../../../http1/connections/server-exchange.ts';
import type { ByteSocket } from '../../../http1/connections/socket-end.ts';
import { CertificateAuthority } from '../../support/certificates/certificate-authority.ts';
import { RawPeer } from './raw-peer.ts';
import { answerWhole, Served } from './served.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const PROCESSING = 'HTTP/1.1 102 Processing\r\n\r\n';
let material: { key: string; cert: string; ca: string };

beforeAll(async () => {
  const authority = await CertificateAuthority.create('ca');
  const { certificate, key } = await authority.issue({ dnsNames: ['localhost'] });
  material = { key, cert: certificate, ca: authority.certificate };
});

function ok(text: string, more = ''): string {
  return `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n${more}\r\n${text}`;
}

async function dialTls(port: number): Promise<RawPeer> {
  const address = { port, host: '127.0.0.1', servername: 'localhost', allowHalfOpen: true };
  const socket = connectTls({ ...address, ca: material.ca });
  onTestFinished(() => void socket.destroy());
  await new Promise<void>((resolve) => socket.once('secureConnect', resolve));
  return new RawPeer(socket);
}

async function inputEnded(served: Served): Promise<void> {
  await served.until(() => served.seen[0]!.exchange.socket.readableEnded, 'the half-close');
}

/** Lets time pass, until the first request is gone. */
async function gone(served: Served): Promise<void> {
  await served.until(() => {
    served.clock.advance(100);
    return served.seen[0]!.isGone;
  }, 'the report that the client has left');
}

/** Matches a server that has nothing left. */
const NOTHING_LEFT = {
  connections: { count: 0, requestsInFlight: 0 },
  clock: { sweep: { size: 0 } },
};

describe.each(['TCP', 'TLS'])('over %s, a client that ends its side', (transport) => {
  const isTls = transport === 'TLS';

  async function serve(): Promise<Served> {
    const served = new Served();
    return isTls
      ? served.listen(createTlsServer({ ...material, allowHalfOpen: true }))
      : served.listen();
  }

  /** The client of a request that has arrived. */
  async function clientOf(served: Served, text = GET): Promise<RawPeer> {
    const client = isTls ? await dialTls(served.port) : await served.dial();
    client.write(text);
    await served.request(0);
    return client;
  }

  it('gets its whole response', async () => {
    const served = await serve();
    const client = await clientOf(served);
    client.socket.end();
    await inputEnded(served);
    const text = 'x'.repeat(1_000_000);
    answerWhole(served.seen[0]!.exchange, text);
    await client.closed();
    expect(client.text).toBe(ok(text, 'Connection: close\r\n'));
    expect(served.seen[0]!.isGone).toBe(false);
  });

  it('is sent one informational response while it waits', async () => {
    const served = await serve();
    const client = await clientOf(served);
    client.socket.end();
    await inputEnded(served);
    served.clock.advance(299);
    expect(client.text).toBe('');
    for (let times = 0; times < 5; times += 1) {
      served.clock.advance(300);
      await client.has(PROCESSING);
    }
    answerWhole(served.seen[0]!.exchange, 'late');
    await client.closed();
    expect(client.text).toBe(PROCESSING + ok('late', 'Connection: close\r\n'));
  });

  it('and has left before its response is noticed without a byte of the response', async () => {
    const served = await serve();
    (await clientOf(served)).socket.destroy();
    await gone(served);
    expect(served).toMatchObject(NOTHING_LEFT);
  });

  it('and has left within a response is noticed, although the response is silent', async () => {
    const served = await serve();
    const client = await clientOf(served);
    const sink = served.seen[0]!.exchange.respond(200, 'OK', [], { kind: 'chunked' });
    sink.write(Buffer.from('abc'));
    await client.has('abc');
    client.socket.destroy();
    await gone(served);
    expect(served).toMatchObject(NOTHING_LEFT);
  });

  it('and has left after the response began again is noticed', async () => {
    const served = await serve();
    const client = await clientOf(served);
    client.socket.destroy();
    await inputEnded(served);
    // The reset that answers these bytes comes when nothing is written any more.
    served.seen[0]!.exchange.respond(200, 'OK', [], { kind: 'chunked' }).write(Buffer.from('a'));
    await gone(served);
    expect(served).toMatchObject(NOTHING_LEFT);
  });

  it('gets a response that goes on, however long it takes', async () => {
    const served = await serve();
    const client = await clientOf(served);
    const sink = served.seen[0]!.exchange.respond(200, 'OK', [], { kind: 'chunked' });
    await client.has('\r\n\r\n');
    client.socket.end();
    await inputEnded(served);
    sink.write(Buffer.from('first'));
    await client.has('first');
    for (let times = 0; times < 20; times += 1) served.clock.advance(1_000);
    sink.write(Buffer.from('second'));
    sink.end();
    await client.closed();
    expect(client.text.endsWith('5\r\nfirst\r\n6\r\nsecond\r\n0\r\n\r\n')).toBe(true);
  });
});

describe('a client that ends its side', () => {
  it('within a response that is silent counts as gone', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(GET);
    (await served.request(0)).exchange.respond(200, 'OK', [], { kind: 'chunked' });
    await client.has('\r\n\r\n');
    client.socket.end();
    await inputEnded(served);
    served.clock.advance(299);
    expect(served.seen[0]!.isGone).toBe(false);
    await gone(served);
    expect(served).toMatchObject(NOTHING_LEFT);
  });

  it('and reads slowly gets its response', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(GET);
    const { exchange } = await served.request(0);
    client.socket.pause();
    const bytes = Buffer.alloc(32 * 1024 * 1024, 'x');
    const sink = exchange.respond(200, 'OK', [], { kind: 'length', bytes: bytes.length });
    sink.write(bytes);
    client.socket.end();
    await inputEnded(served);
    for (let times = 0; times < 20; times += 1) served.clock.advance(1_000);
    client.socket.resume();
    sink.end();
    await client.closed();
    expect(client.text.length).toBeGreaterThan(bytes.length);
    expect(served.seen[0]!.isGone).toBe(false);
    expect(served.connections.count).toBe(0);
  });

  it('gets the responses to several requests, and is asked once whether it still reads', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(GET + GET);
    client.socket.end();
    await served.request(1);
    await inputEnded(served);
    for (let times = 0; times < 5; times += 1) served.clock.advance(300);
    for (const { exchange } of served.seen) answerWhole(exchange, 'late');
    await client.closed();
    expect(client.text).toBe(PROCESSING + ok('late') + ok('late', 'Connection: close\r\n'));
  });

  it('of HTTP/1.0 is sent nothing but its response', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write('GET / HTTP/1.0\r\n\r\n');
    await served.request(0);
    client.socket.end();
    await inputEnded(served);
    for (let times = 0; times < 5; times += 1) served.clock.advance(300);
    answerWhole(served.seen[0]!.exchange, 'late');
    await client.closed();
    expect(client.text).toBe(ok('late', 'Connection: close\r\n'));
  });

  it('between requests has its connection closed', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(GET);
    answerWhole((await served.request(0)).exchange, 'one');
    await client.has('one');
    client.socket.end();
    await client.closed();
    expect(served.connections.count).toBe(0);
  });

  it('behind requests that wait does not lose them', async () => {
    const served = await new Served({ pipelinedMax: 1 }).listen();
    const client = (await served.dial()).write(GET + GET);
    client.socket.end();
    await served.request(0);
    await inputEnded(served);
    answerWhole(served.seen[0]!.exchange, 'one');
    answerWhole((await served.request(1)).exchange, 'two');
    await client.closed();
    expect(client.text).toBe(ok('one') + ok('two', 'Connection: close\r\n'));
  });
});

test('bytes that the socket reports as taken after the end, and that were sent before, do not ask the client', () => {
  // With TLS a write is reported a turn later.
  const socket = Object.assign(new EventEmitter(), {
    writable: true,
    writableLength: 0,
    writableNeedDrain: false,
    write: (bytes: string) => {
      socket.writableLength += bytes.length;
      return true;
    },
  });
  const output = new Output(socket as unknown as ByteSocket, () => undefined);
  output.put('data: 1\n\n');
  output.flush();
  const clock = { sweep: { now: () => 0 }, times: { halfClosedMs: 300 } };
  const halfClose = new HalfClose(clock, output, undefined);
  socket.writableLength = 0;
  const exchange = { informational: () => undefined, hasResponded: true };
  expect(halfClose.hasLeft(exchange as unknown as OpenExchange, 300)).toBe(true);
});
