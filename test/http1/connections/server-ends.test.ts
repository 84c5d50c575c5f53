// How connections of a server end, apart from their times: early responses, half-close, clients that leave.
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

describe('half-close', () => {
  it('leaves the client its responses', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(GET + GET);
    client.socket.end();
    await served.until(() => served.seen[1]?.isHalfClosed === true, 'the half-close');
    expect(served.seen.map(({ isGone }) => isGone)).toEqual([false, false]);
    for (const { exchange } of served.seen) answerWhole(exchange, 'late');
    await client.closed();
    expect(client.text).toBe(ok('late') + ok('late', 'Connection: close\r\n'));
  });

  it('between requests closes the connection', async () => {
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
    await served.until(() => served.seen[0]?.isHalfClosed === true, 'the half-close');
    answerWhole(served.seen[0]!.exchange, 'one');
    answerWhole((await served.request(1)).exchange, 'two');
    await client.closed();
    expect(client.text).toBe(ok('one') + ok('two', 'Connection: close\r\n'));
  });
});

describe('a client that leaves', () => {
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
