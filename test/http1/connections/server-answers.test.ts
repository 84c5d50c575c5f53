// Whole responses, and what becomes of them while their client reads nothing.
import { describe, expect, it } from 'vitest';
import type { ServerExchange } from '../../../http1/connections/server-exchange.ts';
import { Served } from './served.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

function whole(body: string | Buffer, status = 200) {
  return { status, reason: 'OK', fields: [], body };
}

/** A server whose handler answers without reading the end of the request. */
function notReceiving(...options: ConstructorParameters<typeof Served>): Served {
  const served = new Served(...options);
  served.receives = false;
  return served;
}

/** Answers each request, and counts the answers that were sent. */
function counting(served: Served, body: string | Buffer): { sent: number } {
  const counted = { sent: 0 };
  served.onRequest = (exchange) => exchange.answer(whole(body), () => (counted.sent += 1));
  return counted;
}

describe('a whole response', () => {
  it('is sent as text or bytes, with its length', async () => {
    const served = await notReceiving().listen();
    const bodies = ['t\u00e9xt', Buffer.from('bytes')];
    served.onRequest = (exchange) => exchange.answer(whole(bodies.shift()!));
    const client = (await served.dial()).write(GET + GET);
    await client.has('bytes');
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: ';
    expect(client.text).toBe(`${head}4\r\n\r\nt\u00e9xt${head}5\r\n\r\nbytes`);
  });

  it('has no body for HEAD, 204 and 304', async () => {
    const served = await notReceiving().listen();
    const statuses = [200, 204, 304, 200];
    served.onRequest = (exchange) => exchange.answer(whole('body', statuses.shift()));
    const client = await served.dial();
    client.write(`HEAD / HTTP/1.1\r\nHost: a\r\n\r\n${GET}${GET}${GET}`);
    await client.has('body');
    expect(client.text.match(/body/g)).toEqual(['body']);
  });

  it('waits for those before it, and is reported as sent only then', async () => {
    const served = await notReceiving().listen();
    const waiting: ServerExchange[] = [];
    const sent: number[] = [];
    served.onRequest = (exchange) => waiting.push(exchange);
    const client = (await served.dial()).write(GET + GET);
    await served.request(1);
    waiting[1]!.answer(whole('second'), () => sent.push(2));
    await new Promise(setImmediate);
    expect(sent).toEqual([]);
    waiting[0]!.answer(whole('first'), () => sent.push(1));
    await client.has('second');
    expect(client.text.indexOf('first')).toBeLessThan(client.text.indexOf('second'));
    expect(sent).toEqual([1, 2]);
  });

  it('is reported as sent when its connection is gone', async () => {
    const served = await notReceiving().listen();
    const waiting: ServerExchange[] = [];
    let sent = 0;
    served.onRequest = (exchange) => waiting.push(exchange);
    const client = (await served.dial()).write(GET + GET);
    await served.request(1);
    waiting[1]!.answer(whole('second'), () => (sent += 1));
    client.socket.resetAndDestroy?.();
    await served.connections.empty();
    waiting[0]!.answer(whole('first'), () => (sent += 1));
    expect(sent).toBe(2);
    expect(served.seen.map(({ isGone }) => isGone)).toEqual([true, false]);
  });

  it('tells how long the connection may idle', async () => {
    const served = await notReceiving({}, { idleMs: 72_900 }, true).listen();
    counting(served, 'x');
    const client = (await served.dial()).write(GET);
    await client.has('x');
    client.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await client.end();
    expect(client.text.match(/^(?:Keep-Alive|Connection): .*$/gm)).toEqual([
      'Keep-Alive: timeout=72',
      'Connection: close',
    ]);
  });
});

describe('a client that reads nothing', () => {
  const many = 4_000;

  it('gets no further responses made, and all of them when it reads', async () => {
    const served = await notReceiving().listen();
    const counted = counting(served, 'x'.repeat(10_000));
    const client = await served.dial();
    client.socket.pause();
    client.write(GET.repeat(many));
    let before = -1;
    // The system takes some megabytes first.
    await served.until(() => {
      const isStill = served.seen.length > 0 && served.seen.length === before;
      before = served.seen.length;
      return isStill;
    }, 'a pause');
    const [connection] = served.connections;
    expect(served.seen.length).toBeLessThan(many / 2);
    expect(connection!.waitingBytes).toBeLessThan(300_000);
    expect(counted.sent).toBeLessThanOrEqual(served.seen.length);
    client.socket.resume();
    await served.until(() => counted.sent === many, 'all responses');
    expect(served.seen.length).toBe(many);
  });

  it('has its responses reported as sent when it is cut', async () => {
    const served = await notReceiving().listen();
    const counted = counting(served, Buffer.alloc(20_000_000));
    const client = (await served.dial()).write(GET);
    client.socket.pause();
    await served.request(0);
    await new Promise(setImmediate);
    expect(counted.sent).toBe(0);
    served.connections.closeIdle();
    expect(served.connections.count).toBe(1);
    expect(served.connections.cut()).toBe(true);
    await served.connections.empty();
    expect(counted.sent).toBe(1);
  });

  it('has few bytes held for it behind a response that is not complete', async () => {
    const served = await notReceiving({ heldBytesMax: 1_000, pipelinedMax: 100 }).listen();
    served.onRequest = (exchange) => {
      if (served.seen.length > 1) exchange.answer(whole('x'.repeat(400)));
    };
    const client = (await served.dial()).write(GET.repeat(50));
    await served.request(2);
    await new Promise(setImmediate);
    expect(served.seen.length).toBe(4);
    served.seen[0]!.exchange.answer(whole('first'));
    await served.request(49);
    await client.has('first');
  });
});

describe('the time of a whole request', () => {
  it('ends, however often bytes of it come', async () => {
    const served = await new Served({}, { requestMs: 100_000 }).listen();
    const client = await served.dial();
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n');
    const { body } = await served.request(0);
    for (let at = 1; at < 4; at += 1) {
      client.write('x');
      await served.until(() => body.text.length === at, 'a byte');
      served.clock.advance(30_000);
    }
    expect(body.failure).toBeUndefined();
    client.write('x');
    await served.until(() => body.text.length === 4, 'a byte');
    served.clock.advance(10_000);
    await client.has('body-timeout');
    expect(body.failure).toBe('body-timeout');
  });
});

describe('the stop of a server', () => {
  it('may close idle connections at once', async () => {
    const served = await notReceiving().listen();
    counting(served, 'x');
    const idle = (await served.dial()).write(GET);
    await idle.has('x');
    served.onRequest = () => undefined;
    const busy = (await served.dial()).write(GET);
    await served.request(1);
    served.connections.stop();
    served.connections.closeIdle();
    await idle.end();
    expect(served.connections.count).toBe(1);
    served.seen[1]!.exchange.answer(whole('late'));
    await busy.has('late');
  });
});
