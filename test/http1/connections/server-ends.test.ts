// How connections of a server end, apart from their times: early responses, slow clients, clients that leave.
import { describe, expect, it } from 'vitest';
import { answerWhole, Served } from './served.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

function ok(text: string, more = ''): string {
  return `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n${more}\r\n${text}`;
}

describe('early responses', () => {
  it('reach a client that still sends, and then the connection closes', async () => {
    const served = await new Served().listen();
    const client = await served.dial();
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n');
    const { exchange, body } = await served.request(0);
    const chunk = Buffer.alloc(200_000);
    const sending = setInterval(() => {
      if (!client.socket.destroyed && client.socket.writableLength < 1e6)
        client.socket.write(chunk);
    }, 1);
    answerWhole(exchange, 'no need');
    await client.end();
    clearInterval(sending);
    expect(client.text).toBe(ok('no need', 'Connection: close\r\n'));
    expect(body.failure).toBe('incomplete-message');
    expect(client.error).toBeUndefined();
    // The client does not end its side: it is cut after a while.
    expect(served.connections.count).toBe(1);
    served.clock.advance(2_000);
    await served.connections.empty();
  });
});

describe('a client that reads slowly', () => {
  it('slows the handler down', async () => {
    const served = await new Served().listen();
    const client = await served.dial();
    client.socket.pause();
    client.write(GET + GET);
    const { exchange } = await served.request(0);
    const later = (await served.request(1)).exchange.respond(200, 'OK', [], { kind: 'chunked' });
    const sink = exchange.respond(200, 'OK', [], { kind: 'chunked' });
    const chunk = Buffer.alloc(64 * 1024);
    const total = 64 * 1024 * 1024;
    let written = 0;
    const fill = (): void => {
      while (written < total) {
        written += chunk.length;
        if (!sink.write(chunk)) return;
      }
      sink.end();
    };
    sink.onDrain = fill;
    fill();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(written).toBeLessThan(20 * 1024 * 1024);
    // Nothing of the second response is taken before its turn.
    expect(later.write(chunk)).toBe(false);
    client.socket.removeAllListeners('data');
    let received = 0;
    client.socket.on('data', (bytes: Buffer) => {
      received += bytes.length;
    });
    client.socket.resume();
    await served.until(() => received > total + chunk.length, 'both responses');
    expect(written).toBe(total);
  });
});

describe('a client that leaves', () => {
  it('at any byte of its requests leaves nothing behind', async () => {
    const served = await new Served().listen();
    served.onRequest = (exchange, body) => {
      void body.over.then(() => {
        if (body.failure === undefined) answerWhole(exchange, body.text);
      });
    };
    const chunked =
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n';
    const text = chunked + GET;
    await Promise.all(
      Array.from({ length: text.length }, async (_, bytes) => {
        const client = (await served.dial()).write(text.slice(0, bytes));
        await new Promise((resolve) => setTimeout(resolve, 20));
        client.socket.resetAndDestroy!();
        await client.closed();
      }),
    );
    await served.connections.empty();
    expect(served.connections.requestsInFlight).toBe(0);
    expect(served.clock.sweep.size).toBe(0);
    for (const { body } of served.seen)
      expect(body.failure === undefined).toBe(body.trailers !== undefined);
    const left = process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap');
    expect(left).toEqual([]);
  });

  it('is reported to every request', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(
      `${GET}POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc`,
    );
    await served.request(1);
    const sink = served.seen[0]!.exchange.respond(200, 'OK', [], { kind: 'chunked' });
    client.socket.resetAndDestroy!();
    await served.until(() => served.seen.every(({ isGone }) => isGone), 'the report');
    expect(served.seen[1]!.body.failure).toBe('incomplete-message');
    expect(sink.write(Buffer.from('x'))).toBe(true);
    sink.end();
    expect(served.connections).toMatchObject({ count: 0, requestsInFlight: 0 });
    expect(served.clock.sweep.size).toBe(0);
  });
});
