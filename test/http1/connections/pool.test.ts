// Pool: which connection a request gets, and when connections are not used again.
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ClientConnection } from '../../../http1/connections/client-connection.ts';
import type { Connect, Connected } from '../../../http1/connections/connect.ts';
import { tcpConnect } from '../../../http1/connections/connect.ts';
import { Pool, type Taken } from '../../../http1/connections/pool.ts';
import { Called } from './called.ts';
import { listening } from './raw-peer.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

/** Answers every request head with `text`. */
async function answering(called: Called, text = OK): Promise<Called> {
  await called.listen();
  called.listener.onPeer = (peer) => {
    peer.socket.on('data', () => peer.write(text));
  };
  return called;
}

/** Sends a request, and gives the connection that it used once the response is complete. */
async function once(called: Called, taking = {}): Promise<ClientConnection> {
  const { response, connection } = await called.send('GET', undefined, taking);
  await response.over;
  return connection;
}

/** Opens so many connections at once, which then are idle in the order of their numbers. */
async function idle(called: Called, count: number): Promise<ClientConnection[]> {
  const sent = await Promise.all(
    Array.from({ length: count }, async () => await called.send('GET', undefined, { fresh: true })),
  );
  await Promise.all(sent.map(async ({ response }) => await response.over));
  return sent.map(({ connection }) => connection);
}

const never = (): void => expect.unreachable();

describe('a pool', () => {
  it('uses the connection first that was used last', async () => {
    const called = await answering(new Called());
    const [a, b] = await idle(called, 2);
    called.clock.advance(10);
    const last = await once(called);
    expect([a, b]).toContain(last);
    for (let at = 0; at < 5; at += 1) expect(await once(called)).toBe(last);
    expect(called.pool).toMatchObject({ openCount: 2, idleCount: 2 });
  });

  it('opens a fresh connection when it is asked to', async () => {
    const called = await answering(new Called());
    const first = await once(called);
    expect(await once(called, { fresh: true })).not.toBe(first);
    expect(called.listener.peers.length).toBe(2);
  });

  it('uses one that has been idle for long only if the request may', async () => {
    const called = await answering(new Called());
    const first = await once(called);
    called.clock.advance(1_001);
    const second = await once(called, { idleMsMax: 1_000 });
    expect(second).not.toBe(first);
    called.clock.advance(1_000);
    expect(await once(called, { idleMsMax: 1_000 })).toBe(second);
    expect(called.pool.openCount).toBe(2);
  });

  it('closes idle connections after their time', async () => {
    const called = await answering(new Called());
    await idle(called, 3);
    called.clock.advance(54_999);
    expect(called.pool.idleCount).toBe(3);
    called.clock.advance(1);
    expect(called.pool).toMatchObject({ openCount: 0, idleCount: 0 });
    for (const peer of called.listener.peers) await peer.closed();
    expect(called.clock.sweep.size).toBe(0);
  });

  it.each([
    ['timeout=5', 5_000],
    ['max=3, Timeout = "5"', 5_000],
    ['timeout=0', 0],
    ['timeout=1000000', 55_000],
    ['xtimeout=5', 55_000],
  ])('heeds the time that the peer names: %j', async (value, ms) => {
    const text = OK.replace('\r\n', `\r\nKeep-Alive: ${value}\r\n`);
    const called = await answering(new Called(), text);
    const first = await once(called);
    called.clock.nowMs += Math.max(0, ms - 1);
    const second = await once(called);
    expect(second === first).toBe(ms > 0);
    called.clock.nowMs += ms;
    expect(await once(called)).not.toBe(second);
  });

  it('keeps none if they may not be idle', async () => {
    const called = await answering(new Called({}, { idleMs: 0 }));
    for (let at = 0; at < 3; at += 1) await once(called);
    expect(called.pool).toMatchObject({ openCount: 0, idleCount: 0 });
    expect(called.listener.peers.length).toBe(3);
  });

  it('uses no connection beyond its age', async () => {
    const called = await answering(new Called({}, { lifetimeMs: () => 10_000 }));
    const first = await once(called);
    called.clock.nowMs += 9_999;
    const busy = await called.send('GET');
    expect(busy.connection).toBe(first);
    called.clock.advance(1);
    await busy.response.over;
    expect(busy.response.log).toEqual(['200', 'end']);
    expect(called.pool.openCount).toBe(0);
    const second = await once(called);
    called.clock.advance(10_000);
    expect(second.isUsable).toBe(false);
    expect(called.pool.openCount).toBe(0);
  });

  it('is empty when no connection is open, and none is being opened', async () => {
    const called = await answering(new Called());
    expect(called.pool.isEmpty).toBe(true);
    const cancel = called.pool.take({}, never);
    expect(called.pool).toMatchObject({ openCount: 0, isEmpty: false });
    cancel();
    expect(called.pool.isEmpty).toBe(true);
    await idle(called, 1);
    expect(called.pool.isEmpty).toBe(false);
  });

  it('keeps a bounded number of idle connections, those used last', async () => {
    const called = await answering(new Called({ idleMax: 2 }));
    await idle(called, 5);
    expect(called.pool).toMatchObject({ openCount: 2, idleCount: 2 });
  });

  it('forgets a connection that its peer closes', async () => {
    const called = await answering(new Called());
    const [first] = await idle(called, 1);
    const peer = called.listener.peers[0]!;
    peer.socket.end();
    await peer.closed();
    expect(called.pool).toMatchObject({ openCount: 0, idleCount: 0 });
    expect(first!.isUsable).toBe(false);
  });

  it('drops all connections, those in use after their response', async () => {
    const called = await answering(new Called());
    await idle(called, 3);
    const busy = await called.send('GET');
    called.pool.retire();
    expect(called.pool).toMatchObject({ openCount: 1, idleCount: 0 });
    await busy.response.over;
    expect(busy.response.log).toEqual(['200', 'end']);
    expect(called.pool.openCount).toBe(0);
    await once(called);
    expect(called.pool).toMatchObject({ openCount: 1, idleCount: 1 });
  });

  it('uses a connection that was being opened at that time once', async () => {
    const called = await answering(new Called());
    const sending = called.send('GET');
    called.pool.retire();
    const { response } = await sending;
    await response.over;
    expect(response.log).toEqual(['200', 'end']);
    expect(called.pool).toMatchObject({ openCount: 0, idleCount: 0 });
  });
});

/** Takes a connection so many times, and gives what came, in the order in which it came. */
function takeMany(pool: Pool, count: number): { no: number; taken: Taken }[] {
  const seen: { no: number; taken: Taken }[] = [];
  for (let no = 0; no < count; no += 1) pool.take({}, (taken) => seen.push({ no, taken }));
  return seen;
}

describe('many requests at once', () => {
  it('use the connections that become idle, in the order in which they came', async () => {
    const called = await answering(new Called({ openingMax: 1 }));
    const { limits, times, clock, listener } = called;
    const opens = tcpConnect({ host: '127.0.0.1', port: listener.port }, 5_000, clock.sweep);
    let opened = 0;
    // The second connection never comes to be.
    const connect: Connect = (...options) => (opened++ === 0 ? opens(...options) : () => undefined);
    called.pool = new Pool({ connect, limits, times, sweep: clock.sweep });
    onTestFinished(() => called.pool.close());
    const answered: number[] = [];
    const sent = [0, 1, 2, 3, 4].map(async (no) => {
      await once(called);
      answered.push(no);
    });
    await Promise.all(sent.filter((_, no) => no !== 1));
    expect(answered).toEqual([0, 2, 3, 4]);
    expect(opened).toBe(2);
    expect(called.pool).toMatchObject({ openCount: 1, idleCount: 1 });
  });

  it('open further ones while those that are open are in use', async () => {
    const called = await new Called({ openingMax: 2 }).listen();
    const sent = await Promise.all(Array.from({ length: 5 }, async () => await called.send('GET')));
    expect(new Set(sent.map(({ connection }) => connection)).size).toBe(5);
  });

  it('get the failure of their own connection', () => {
    const seen = stalled(new Called({ openingMax: 1 }));
    const taken = takeMany(seen.pool, 2);
    seen.settle({ socket: undefined, failure: { kind: 'connect-timeout' } });
    seen.settle({ socket: undefined, failure: { kind: 'identity', reason: 'Another service.' } });
    const failures = [
      { kind: 'connect-timeout' },
      { kind: 'identity', reason: 'Another service.' },
    ].map((failure, no) => ({ no, taken: { connection: undefined, failure } }));
    expect(taken).toEqual(failures);
    expect(seen.pool.isEmpty).toBe(true);
  });

  it('wait no longer than opening a connection may take', () => {
    const called = new Called({ openingMax: 1 });
    const seen = stalled(called);
    const taken = takeMany(seen.pool, 2);
    called.clock.advance(called.times.connectMs);
    expect(taken).toEqual([
      { no: 1, taken: { connection: undefined, failure: { kind: 'connect-timeout' } } },
    ]);
    expect(called.clock.sweep.size).toBe(0);
  });

  it('can be cancelled while they wait, and once their connection is being opened', () => {
    const seen = stalled(new Called({ openingMax: 1 }));
    const first = seen.pool.take({}, never);
    const second = seen.pool.take({}, never);
    const third = seen.pool.take({}, never);
    third();
    first();
    expect(seen.cancelled).toBe(1);
    second();
    expect(seen).toMatchObject({ cancelled: 2, pool: { isEmpty: true } });
  });

  it('end with the pool', () => {
    const called = new Called({ openingMax: 1 });
    const seen = stalled(called);
    seen.pool.take({}, never);
    seen.pool.take({}, never);
    seen.pool.close();
    called.clock.advance(called.times.connectMs);
    expect(seen).toMatchObject({ cancelled: 1, pool: { isEmpty: true } });
  });
});

/** A pool whose connections are opened when the test says so. */
function stalled(called: Called): {
  pool: Pool;
  settle: (outcome: Connected) => void;
  cancelled: number;
} {
  let settle: ((outcome: Connected) => void) | undefined;
  const connect: Connect = (_onread, settled) => {
    settle = settled;
    return () => {
      seen.cancelled += 1;
    };
  };
  const { limits, times } = called;
  const pool = new Pool({ connect, limits, times, sweep: called.clock.sweep });
  const seen = { pool, settle: (outcome: Connected) => settle?.(outcome), cancelled: 0 };
  return seen;
}

describe('opening a connection', () => {
  it('gives the failure of the opener', () => {
    const seen = stalled(new Called());
    const taken: Taken[] = [];
    seen.pool.take({}, (outcome) => taken.push(outcome));
    seen.settle({ socket: undefined, failure: { kind: 'identity', reason: 'Another service.' } });
    expect(taken).toEqual([
      { connection: undefined, failure: { kind: 'identity', reason: 'Another service.' } },
    ]);
  });

  it('is cancelled with the request or the pool', () => {
    const seen = stalled(new Called());
    seen.pool.take({}, never)();
    expect(seen.cancelled).toBe(1);
    seen.pool.take({}, never);
    seen.pool.take({}, never);
    seen.pool.close();
    expect(seen.cancelled).toBe(3);
  });

  it('takes no longer than its time', async () => {
    // No process accepts: its queue is full, and the kernel answers no more.
    const called = new Called();
    const server = createServer();
    const port = await listening(server);
    const failures: string[] = [];
    const connect = tcpConnect({ host: '127.0.0.1', port }, 5_000, called.clock.sweep);
    const cancel = connect({ buffer: new Uint8Array(1), callback: () => true }, (outcome) => {
      failures.push(outcome.socket === undefined ? outcome.failure.kind : 'connected');
    });
    onTestFinished(cancel);
    // The answer of the kernel is there at the next turn of the event loop, after this.
    called.clock.advance(5_000);
    expect(failures).toEqual(['connect-timeout']);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(failures).toEqual(['connect-timeout']);
    expect(called.clock.sweep.size).toBe(0);
  });
});
