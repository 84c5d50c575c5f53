// When connections of a server end: timeouts, limits, retirement and the stop. The clock is the test's.
import { describe, expect, it } from 'vitest';
import { answerWhole, Served } from './served.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

function ok(text: string, more = ''): string {
  return `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n${more}\r\n${text}`;
}

describe('times', () => {
  it('refuse a head that does not arrive in time, however many bytes do', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write('GET / HTTP/1.1\r\n');
    await served.until(() => served.connections.count === 1, 'the connection');
    for (let at = 0; at < 9; at += 1) {
      client.write(`x-${at}: 1\r\n`);
      await new Promise((resolve) => setTimeout(resolve, 2));
      served.clock.advance(1_100);
    }
    expect(client.text).toBe('');
    served.clock.advance(200);
    await client.end();
    expect(client.text).toContain('HTTP/1.1 408 Refused\r\nX-Refused: head-timeout\r\n');
    expect(served.seen.length).toBe(0);
  });

  it('close a connection without a word that sends nothing', async () => {
    const served = await new Served().listen();
    const client = await served.dial();
    await served.until(() => served.connections.count === 1, 'the connection');
    served.clock.advance(9_900);
    expect(client.hasEnded).toBe(false);
    served.clock.advance(100);
    await client.end();
    expect(client.text).toBe('');
  });

  it('close an idle connection after its time', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(GET);
    const { exchange } = await served.request(0);
    served.clock.advance(1_000_000);
    answerWhole(exchange, 'slow');
    await client.has('slow');
    served.clock.advance(74_000);
    client.write('GET / HTTP/1.1\r\n');
    await new Promise((resolve) => setTimeout(resolve, 20));
    served.clock.advance(9_000);
    client.write('Host: a\r\n\r\n');
    answerWhole((await served.request(1)).exchange, 'more');
    await client.has('more');
    served.clock.advance(75_000);
    await client.end();
    expect(client.text).toBe(ok('slow') + ok('more'));
  });

  const EXPECTING =
    'PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n';

  it('of a body begin when its client was asked for it, if it waits for that', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(EXPECTING);
    const { exchange, body } = await served.request(0);
    served.clock.advance(1_000_000);
    exchange.informational(100, 'Continue', []);
    served.clock.advance(59_900);
    await client.has('100 Continue\r\n\r\n');
    expect(body.failure).toBeUndefined();
    served.clock.advance(100);
    await client.end();
    expect(client.text).toContain('HTTP/1.1 408 Refused\r\nX-Refused: body-timeout\r\n');
  });

  it('of a body begin when its client was asked for it behind another response', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(GET + EXPECTING);
    const [first, second] = [await served.request(0), await served.request(1)];
    second.exchange.informational(100, 'Continue', []);
    served.clock.advance(1_000_000);
    answerWhole(first.exchange, 'one');
    served.clock.advance(59_900);
    await client.has('100 Continue\r\n\r\n');
    client.write('hi');
    await second.body.over;
    expect(second.body.text).toBe('hi');
  });

  it('of a body begin with its first byte, if its client does not wait', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(`${EXPECTING}h`);
    const { body } = await served.request(0);
    await served.until(() => body.text === 'h', 'a byte');
    served.clock.advance(60_000);
    await client.end();
    expect(client.text).toContain('HTTP/1.1 408 Refused\r\nX-Refused: body-timeout\r\n');
  });

  it('of a body begin anew when its handler takes it again', async () => {
    const served = await new Served().listen();
    served.onRequest = (exchange, body) => {
      body.data = (bytes) => {
        body.text += bytes.toString('latin1');
        exchange.pause();
      };
    };
    const client = (await served.dial()).write(
      'PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nh',
    );
    const { exchange, body } = await served.request(0);
    await served.until(() => body.text === 'h', 'a byte');
    served.clock.advance(1_000_000);
    exchange.resume();
    served.clock.advance(59_900);
    client.write('i');
    await served.until(() => body.text === 'hi', 'another byte');
    exchange.resume();
    await body.over;
    expect(body.failure).toBeUndefined();
    expect(body.text).toBe('hi');
  });

  it('never cut a response that has begun', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(GET);
    const { exchange } = await served.request(0);
    const sink = exchange.respond(200, 'OK', [], { kind: 'chunked' });
    sink.write(Buffer.from('a'));
    await client.has('1\r\na\r\n');
    served.clock.advance(100_000_000);
    sink.write(Buffer.from('b'));
    sink.end();
    await client.has('1\r\nb\r\n0\r\n\r\n');
    expect(client.hasEnded).toBe(false);
  });

  it('wait for a client that reads its last response slowly', async () => {
    const served = await new Served().listen();
    const client = await served.dial();
    client.socket.pause();
    client.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    const { exchange } = await served.request(0);
    const bytes = 32 * 1024 * 1024;
    const sink = exchange.respond(200, 'OK', [], { kind: 'length', bytes });
    sink.write(Buffer.alloc(bytes));
    sink.end();
    for (let at = 0; at < 10; at += 1) served.clock.advance(100_000);
    client.socket.resume();
    await client.end();
    expect(client.text.length).toBeGreaterThan(bytes);
    expect(client.error).toBeUndefined();
  });
});

describe('limits', () => {
  it('bound the unfinished heads of all connections together', async () => {
    const served = await new Served({ unfinishedHeadBytesMax: 2_000 }).listen();
    const begun = `GET / HTTP/1.1\r\nHost: a\r\nA: ${'x'.repeat(900)}`;
    const held = [await served.dial(), await served.dial(), await served.dial()] as const;
    held[0].write(begun);
    held[1].write(begun);
    await served.until(() => served.connections.count === 3, 'all connections');
    await new Promise((resolve) => setTimeout(resolve, 50));
    await held[2].write(begun).end();
    expect(held[2].text).toContain('HTTP/1.1 503 Refused\r\nX-Refused: too-many-requests\r\n');
    // A head that comes at once is not held.
    const whole = (await served.dial()).write(`${begun}\r\n\r\n`);
    answerWhole((await served.request(0)).exchange, 'one');
    await whole.has('one');
    // The others are complete, and their bytes no longer count.
    for (const client of held.slice(0, 2)) client.write('\r\n\r\n');
    await served.request(2);
    const next = (await served.dial()).write(begun);
    await served.until(() => served.connections.count === 5, 'another connection');
    next.write('\r\n\r\n');
    await served.request(3);
    expect(next.text).toBe('');
  });

  it('close a connection that is one too many', async () => {
    const served = await new Served({ connectionsMax: 1 }).listen();
    const first = (await served.dial()).write(GET);
    await served.request(0);
    const second = await served.dial();
    await second.end();
    expect(second.text).toBe('');
    answerWhole(served.seen[0]!.exchange, 'one');
    await first.has('one');
  });

  it('refuse a request that is one too many', async () => {
    const served = await new Served({ requestsMax: 1 }).listen();
    const first = (await served.dial()).write(GET);
    await served.request(0);
    const second = (await served.dial()).write(
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nab',
    );
    await second.end();
    expect(second.text).toContain('HTTP/1.1 503 Refused\r\nX-Refused: too-many-requests\r\n');
    expect(served.connections.requestsInFlight).toBe(1);
    answerWhole(served.seen[0]!.exchange, 'one');
    await first.has('one');
    (await served.dial()).write(GET);
    await served.request(1);
    expect(served.connections.requestsInFlight).toBe(1);
  });

  it('drop informational responses to a client that does not read', async () => {
    const served = await new Served().listen();
    const client = await served.dial();
    client.socket.pause();
    client.write(GET + GET);
    const { exchange } = await served.request(0);
    const later = (await served.request(1)).exchange;
    const before = process.memoryUsage().rss;
    const value = 'x'.repeat(16 * 1024);
    for (let at = 0; at < 20_000; at += 1) {
      exchange.informational(103, 'Hints', ['X', value]);
      later.informational(103, 'Hints', ['X', value]);
      if (at % 100 === 0) await new Promise(setImmediate);
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
    answerWhole(exchange, 'done');
    client.socket.resume();
    await client.has(ok('done'));
  });
});

describe('a connection that is retired', () => {
  it('serves one more request, and closes after it', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(GET);
    answerWhole((await served.request(0)).exchange, 'one');
    await client.has('one');
    served.connections.stop();
    served.clock.advance(900);
    client.write(GET + GET);
    answerWhole((await served.request(1)).exchange, 'two');
    await client.end();
    expect(client.text).toBe(ok('one') + ok('two', 'Connection: close\r\n'));
    // The client knows that the request behind it was not handled.
    expect(served.seen).toHaveLength(2);
  });

  it('closes after a second without one', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(GET);
    answerWhole((await served.request(0)).exchange, 'one');
    await client.has('one');
    served.connections.stop();
    served.clock.advance(1_000);
    await client.end();
    expect(served.connections.count).toBe(1);
    client.socket.end();
    await served.connections.empty();
  });

  it('says so only in the last response that is due', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(GET + GET);
    const [first, second] = [await served.request(0), await served.request(1)];
    const sink = first.exchange.respond(200, 'OK', [], { kind: 'chunked' });
    served.connections.stop();
    answerWhole(second.exchange, 'two');
    sink.end();
    await client.end();
    expect(client.text).toBe(
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${ok('two', 'Connection: close\r\n')}`,
    );
  });

  it('closes though its response could not announce it', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(GET);
    const sink = (await served.request(0)).exchange.respond(200, 'OK', [], { kind: 'chunked' });
    await client.has('\r\n\r\n');
    served.connections.stop();
    served.clock.advance(100_000);
    sink.end();
    await client.has('0\r\n\r\n');
    expect(client.hasEnded).toBe(false);
    served.clock.advance(1_000);
    await client.end();
  });

  it('was accepted while the server stops', async () => {
    const served = await new Served().listen();
    served.connections.stop();
    const client = (await served.dial()).write(GET);
    answerWhole((await served.request(0)).exchange, 'one');
    await client.end();
    expect(client.text).toBe(ok('one', 'Connection: close\r\n'));
  });

  it('has reached its age, or was chosen', async () => {
    const served = await new Served({}, { lifetimeMs: () => 30_000, idleMs: Infinity }).listen();
    const [old, young] = [await served.dial(), await served.dial()];
    old.write(GET);
    answerWhole((await served.request(0)).exchange, 'one');
    await old.has('one');
    served.clock.advance(30_000);
    old.write(GET);
    answerWhole((await served.request(1)).exchange, 'two');
    await old.end();
    expect(old.text).toBe(ok('one') + ok('two', 'Connection: close\r\n'));
    served.clock.advance(1_000);
    await young.end();

    const chosen = (await served.dial()).write(GET);
    const { exchange } = await served.request(2);
    served.connections.finish(({ socket }) => socket === exchange.socket);
    answerWhole(exchange, 'three');
    await chosen.end();
    expect(chosen.text).toBe(ok('three', 'Connection: close\r\n'));
  });

  it('has one more request read behind one that waits, however many are sent', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(GET);
    const first = await served.request(0);
    served.connections.stop();
    client.write(GET + GET);
    answerWhole((await served.request(1)).exchange, 'two');
    answerWhole(first.exchange, 'one');
    await client.end();
    expect(client.text).toBe(ok('one') + ok('two', 'Connection: close\r\n'));
    expect(served.seen).toHaveLength(2);
  });

  it('has nothing read behind a request whose response can announce the end, if it is finished', async () => {
    const served = await new Served().listen();
    const busy = await served.dial();
    busy.write(`${GET}POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbo`);
    const [first, second] = [await served.request(0), await served.request(1)];
    const sink = first.exchange.respond(200, 'OK', [], { kind: 'chunked' });
    served.connections.finish(() => true);
    busy.write(`dy${GET}`);
    await second.body.over;
    expect(second.body.text).toBe('body');
    sink.end();
    answerWhole(second.exchange, 'two');
    await busy.end();
    expect(busy.text).toBe(
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${ok('two', 'Connection: close\r\n')}`,
    );
    expect(served.seen).toHaveLength(2);
  });

  it('serves one more request after a response that could not announce the end, if it is finished', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(GET);
    const sink = (await served.request(0)).exchange.respond(200, 'OK', [], { kind: 'chunked' });
    await client.has('\r\n\r\n');
    served.connections.finish(() => true);
    sink.end();
    client.write(GET + GET);
    answerWhole((await served.request(1)).exchange, 'two');
    await client.end();
    expect(client.text).toContain(`\r\n0\r\n\r\n${ok('two', 'Connection: close\r\n')}`);
    expect(served.seen).toHaveLength(2);
  });

  it('serves one more request or closes after a second, if it is finished while it idles', async () => {
    const served = await new Served().listen();
    const [asking, silent] = [await served.dial(), await served.dial()];
    for (const [index, client] of [asking, silent].entries()) {
      client.write(GET);
      answerWhole((await served.request(index)).exchange, 'one');
      await client.has('one');
    }
    served.connections.finish(() => true);
    served.clock.advance(900);
    asking.write(GET + GET);
    answerWhole((await served.request(2)).exchange, 'two');
    await asking.end();
    expect(asking.text).toBe(ok('one') + ok('two', 'Connection: close\r\n'));
    expect(silent.hasEnded).toBe(false);
    served.clock.advance(100);
    await silent.end();
    expect(silent.text).toBe(ok('one'));
    expect(served.seen).toHaveLength(3);
  });

  it('is cut at last', async () => {
    const served = await new Served().listen();
    const client = (await served.dial()).write(GET);
    (await served.request(0)).exchange.respond(200, 'OK', [], { kind: 'chunked' });
    await client.has('\r\n\r\n');
    served.connections.stop();
    served.connections.cut();
    await client.closed();
    await served.connections.empty();
    expect(client.error?.code).toBe('ECONNRESET');
    expect(served.clock.sweep.size).toBe(0);
  });
});
