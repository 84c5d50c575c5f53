// ServerConnection over TCP, byte for byte: order, framing, bodies and refusals.
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { answerWhole, Served } from './served.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const CLOSING = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

function ok(text: string, more = ''): string {
  return `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n${more}\r\n${text}`;
}

/** Bytes that the server has read on its first connection. */
function bytesRead({ seen }: Served): number {
  return (seen[0]!.exchange.socket as Socket).bytesRead;
}

describe('responses', () => {
  it('leave as the handler wrote them, and the connection stays open', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(GET);
    const { exchange } = await served.request(0);
    const sink = exchange.respond(299, 'Quite OK', ['x-B', '1', 'X-a', '', 'x-B', '\xe9'], {
      kind: 'length',
      bytes: 5,
    });
    sink.write(Buffer.from('he'));
    sink.write(Buffer.from('llo'));
    sink.end();
    await client.has('hello');
    expect(client.text).toBe(
      'HTTP/1.1 299 Quite OK\r\nx-B: 1\r\nX-a: \r\nx-B: \xe9\r\nContent-Length: 5\r\n\r\nhello',
    );
    client.write(GET);
    answerWhole((await served.request(1)).exchange, 'again');
    await client.has(ok('again'));
    expect(client.hasEnded).toBe(false);
  });

  it('are chunked without a length, and have trailers', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(GET);
    const { exchange } = await served.request(0);
    const sink = exchange.respond(200, 'OK', [], { kind: 'until-close' });
    sink.write(Buffer.from('0123456789abcdef'));
    await client.has('abcdef\r\n');
    sink.write(Buffer.from('x'));
    sink.end(['X-Sum', '7']);
    await client.has('X-Sum');
    expect(client.text).toBe(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n0123456789abcdef\r\n1\r\nx\r\n0\r\nX-Sum: 7\r\n\r\n',
    );
    expect(client.hasEnded).toBe(false);
  });

  it('end with the connection for HTTP/1.0', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write('GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n');
    const { exchange } = await served.request(0);
    exchange.informational(103, 'Early Hints', []);
    const sink = exchange.respond(200, 'OK', [], { kind: 'chunked' });
    sink.write(Buffer.from('all'));
    sink.end(['X-Sum', '7']);
    await client.end();
    expect(client.text).toBe('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall');
    client.socket.end();
    await client.closed();
  });

  it.each([
    ['HEAD', 200, { kind: 'length', bytes: 3 }, 'Content-Length: 3\r\n'],
    ['HEAD', 200, { kind: 'chunked' }, ''],
    ['GET', 204, { kind: 'chunked' }, ''],
    ['GET', 304, { kind: 'length', bytes: 3 }, 'Content-Length: 3\r\n'],
    ['GET', 304, { kind: 'none' }, ''],
    ['GET', 200, { kind: 'none' }, 'Content-Length: 0\r\n'],
  ] as const)('have no body: %s, %i, %o', async (method, status, framing, fields) => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(`${method} / HTTP/1.1\r\nHost: a\r\n\r\n${CLOSING}`);
    const given = fields.includes('3') ? ['Content-Length', '3'] : [];
    const sink = (await served.request(0)).exchange.respond(status, 'R', given, framing);
    if (framing.kind !== 'none') sink.write(Buffer.from('abc'));
    sink.end();
    answerWhole((await served.request(1)).exchange, 'next');
    await client.end();
    expect(client.text).toBe(
      `HTTP/1.1 ${status} R\r\n${fields}\r\n${ok('next', 'Connection: close\r\n')}`,
    );
  });

  it('come after informational ones', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(
      'POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n',
    );
    const { exchange, body } = await served.request(0);
    expect(exchange.head.expectsContinue).toBe(true);
    exchange.informational(103, 'Early Hints', ['Link', '</a>']);
    exchange.informational(100, 'Continue', []);
    await client.has('100 Continue\r\n\r\n');
    client.write('hi');
    await body.over;
    answerWhole(exchange, body.text);
    exchange.informational(103, 'Too Late', []);
    await client.has('hi');
    expect(client.text).toBe(
      `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${ok('hi')}`,
    );
  });

  it('have no Content-Length if their status has no body', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(GET);
    const { exchange } = await served.request(0);
    exchange.informational(103, 'Hints', ['A', '1', 'content-length', '0']);
    exchange.respond(204, 'No Content', ['Content-Length', '5', 'B', '2'], { kind: 'none' }).end();
    await client.has('204');
    expect(client.text).toBe(
      'HTTP/1.1 103 Hints\r\nA: 1\r\n\r\nHTTP/1.1 204 No Content\r\nB: 2\r\n\r\n',
    );
  });

  it('keep a Content-Length as it was written', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(GET);
    const { exchange } = await served.request(0);
    const framing = { kind: 'length', bytes: 2 } as const;
    const sink = exchange.respond(200, 'OK', ['content-length', '002'], framing);
    sink.write(Buffer.from('ok'));
    sink.end();
    await client.has('ok');
    expect(client.text).toBe('HTTP/1.1 200 OK\r\ncontent-length: 002\r\n\r\nok');
  });

  it.each([
    [['Connection', 'close'], { kind: 'none' }],
    [['transfer-encoding', 'chunked'], { kind: 'chunked' }],
    [['Content-Length', '3'], { kind: 'chunked' }],
    [['Content-Length', '3'], { kind: 'length', bytes: 4 }],
    [['Content-Length', '3', 'content-length', '3'], { kind: 'length', bytes: 3 }],
  ] as const)('refuse fields that contradict the framing: %j', async (fields, framing) => {
    const served = await new Served().listen();
    (await served.dial()).write(GET);
    const { exchange } = await served.request(0);
    expect(() => exchange.respond(200, 'OK', fields, framing)).toThrow(TypeError);
  });

  it('are cut when a handler writes more or less than it announced', async () => {
    const served = await new Served().listen();
    const first = (await served.dial()).write(GET);
    const long = (await served.request(0)).exchange.respond(200, 'OK', [], {
      kind: 'length',
      bytes: 2,
    });
    expect(() => long.write(Buffer.from('abc'))).toThrow(RangeError);
    await first.closed();
    const second = (await served.dial()).write(GET);
    const short = (await served.request(1)).exchange.respond(200, 'OK', [], {
      kind: 'length',
      bytes: 2,
    });
    short.write(Buffer.from('a'));
    expect(() => short.end()).toThrow(RangeError);
    await second.closed();
    expect(second.error?.code).toBe('ECONNRESET');
  });

  it('reset the connection when they are broken off', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(GET);
    const { exchange } = await served.request(0);
    const sink = exchange.respond(200, 'OK', [], { kind: 'chunked' });
    sink.write(Buffer.from('a'));
    await client.has('1\r\na\r\n');
    sink.destroy();
    await client.closed();
    expect(client.error?.code).toBe('ECONNRESET');
    expect(client.text.endsWith('1\r\na\r\n')).toBe(true);
    expect(sink.write(Buffer.from('b'))).toBe(true);
    sink.end();
  });
});

describe('pipelined requests', () => {
  it('are given at once and answered in order', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(GET + GET + GET);
    await served.request(2);
    const [first, second, third] = served.seen.map(({ exchange }) => exchange);
    answerWhole(third!, 'third');
    const sink = second!.respond(200, 'OK', [], { kind: 'chunked' });
    expect(sink.write(Buffer.from('sec'))).toBe(false);
    let drained = 0;
    sink.onDrain = () => {
      drained += 1;
      sink.write(Buffer.from('ond'));
      sink.end();
    };
    expect(client.text).toBe('');
    answerWhole(first!, 'first');
    await client.has('third');
    expect(client.text).toBe(
      `${ok('first')}HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nsec\r\n3\r\nond\r\n0\r\n\r\n${ok('third')}`,
    );
    expect(drained).toBe(1);
    expect(served.connections.requestsInFlight).toBe(0);
  });

  it('wait beyond the limit until one is answered', async () => {
    const served = await new Served({ pipelinedMax: 2 }).listen();
    const client = (await served.dial()).write(GET.repeat(5));
    await served.request(1);
    expect(served.seen.length).toBe(2);
    for (let index = 0; index < 5; index += 1)
      answerWhole((await served.request(index)).exchange, `n${index}`);
    await client.has('n4');
    expect(client.text).toBe([0, 1, 2, 3, 4].map((n) => ok(`n${n}`)).join(''));
  });

  it('are read ahead only up to the limit of bytes', async () => {
    const served = await new Served({ pipelinedMax: 1, readAheadBytesMax: 10_000 }).listen();
    const client = await served.dial();
    const { socket } = client;
    client.write(GET);
    await served.request(0);
    // What the kernels, the limit and one read take is far less than this.
    const bytes = Buffer.alloc(64 * 1024 * 1024, GET);
    socket.write(bytes);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(bytesRead(served)).toBeLessThan(1_000_000);
    expect(served.seen.length).toBe(1);
  });

  it('after one that closes are not interpreted', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(`${CLOSING}${GET}garbage\n\n`);
    answerWhole((await served.request(0)).exchange, 'last');
    await client.end();
    expect(client.text).toBe(ok('last', 'Connection: close\r\n'));
    expect(served.seen.length).toBe(1);
  });

  it('after a response that announces closing are not interpreted', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(GET);
    const { exchange } = await served.request(0);
    exchange.closeAfterResponse();
    const sink = exchange.respond(200, 'OK', [], { kind: 'chunked' });
    await client.has('Connection: close\r\n\r\n');
    client.write(GET);
    await new Promise((resolve) => setTimeout(resolve, 20));
    sink.end();
    await client.end();
    expect(client.text.endsWith('\r\n\r\n0\r\n\r\n')).toBe(true);
    expect(served.seen.length).toBe(1);
  });

  it('after a refused one are not interpreted, and those before it are answered first', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(`${GET}GET / HTTP/1.1\nHost: a\n\n${GET}`);
    const { exchange } = await served.request(0);
    expect(client.text).toBe('');
    answerWhole(exchange, 'first');
    await client.end();
    expect(client.text).toContain(`${ok('first')}HTTP/1.1 400 Refused\r\nX-Refused: `);
    expect(client.text).toMatch(
      /\r\nContent-Length: \d+\r\nConnection: close\r\n\r\n\{"error".*\}$/,
    );
    expect(served.seen.length).toBe(1);
    expect(served.connections.requestsInFlight).toBe(0);
  });

  it('of which the second is broken off end the connection after the first response', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(GET + GET + GET);
    await served.request(2);
    const [first, second, third] = served.seen;
    second!.exchange.respond(200, 'OK', [], { kind: 'chunked' }).destroy();
    answerWhole(first!.exchange, 'first');
    await client.end();
    expect(client.text).toBe(ok('first'));
    expect(third!.isGone).toBe(true);
    expect(served.connections.requestsInFlight).toBe(0);
  });
});

describe('request bodies', () => {
  it('arrive with their trailers', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(
      'DELETE /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n',
    );
    const { exchange, body } = await served.request(0);
    await served.until(() => body.text === 'abc', 'the first chunk');
    expect(exchange.isRequestComplete).toBe(false);
    client.write('2\r\nde\r\n0\r\nX-T: 1\r\n\r\n');
    await body.over;
    expect(body).toMatchObject({ text: 'abcde', trailers: ['X-T', '1'], failure: undefined });
    expect(exchange.isRequestComplete).toBe(true);
  });

  it('are not read while the handler is paused', async () => {
    const served = await new Served({ readAheadBytesMax: 10_000 }).listen();
    const length = 64 * 1024 * 1024;
    const client = (await served.dial()).write(
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`,
    );
    const { exchange, body } = await served.request(0);
    exchange.pause();
    client.socket.write(Buffer.alloc(length));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(bytesRead(served)).toBeLessThan(1_000_000);
    expect(body.text.length).toBeLessThan(200_000);
    // A client that sends as fast as it is read is not too slow.
    served.clock.advance(1_000_000);
    expect(body.failure).toBeUndefined();
    let received = body.text.length;
    body.data = (bytes) => {
      received += bytes.length;
    };
    exchange.resume();
    await body.over;
    expect(received).toBe(length);
  });

  it.each([
    ['Content-Length: 5\r\n\r\nabc', 'ended', 'incomplete-message', 400],
    ['Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n', 'ended', 'incomplete-message', 400],
    ['Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n', 'open', 'bad-chunk-end', 400],
    ['Content-Length: 5\r\n\r\nabc', 'late', 'body-timeout', 408],
  ])('that break never end validly: %j, %s', async (text, how, code, status) => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(`POST / HTTP/1.1\r\nHost: a\r\n${text}`);
    const { body, exchange } = await served.request(0);
    if (how === 'ended') client.socket.end();
    if (how === 'late') {
      await served.until(() => body.text === 'abc', 'the bytes');
      served.clock.advance(60_000);
    }
    await body.over;
    expect(body).toMatchObject({ failure: code, trailers: undefined });
    await client.end();
    expect(client.text).toContain(`HTTP/1.1 ${status} Refused\r\nX-Refused: ${code}\r\n`);
    expect(served.seen[0]!.isGone).toBe(true);
    // The handler comes too late.
    answerWhole(exchange, 'late');
  });

  it('that break during the response leave the response to the handler', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n',
    );
    const { body, exchange } = await served.request(0);
    const sink = exchange.respond(200, 'OK', [], { kind: 'chunked' });
    await client.has('\r\n\r\n');
    client.write('x');
    await body.over;
    expect(body.failure).toBe('bad-chunk-size');
    sink.write(Buffer.from('z'));
    sink.end();
    await client.end();
    expect(client.text).toMatch(/Connection: close\r\n\r\n1\r\nz\r\n0\r\n\r\n$/);
  });

  it('that nobody receives are skipped if they have arrived', async () => {
    const served = await new Served().listen();
    served.receives = false;
    served.onRequest = (exchange) => answerWhole(exchange, 'ok');
    const client = await served.dial();
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc');
    await client.has(ok('ok'));
    client.write(GET);
    await client.has(ok('ok') + ok('ok'));
    expect(client.hasEnded).toBe(false);
  });
});
