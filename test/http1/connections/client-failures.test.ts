// Every kind of failure of a client's connection, bytes that nobody asked for, and the time for a response.
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Called } from './called.ts';
import { listening } from './raw-peer.ts';

const HEAD = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

describe('failures', () => {
  it.each([
    ['', 'closed-before-response'],
    ['H', 'closed-while-answering'],
    ['HTTP/1.1 103 Hints\r\n\r\n', 'closed-while-answering'],
    ['HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab', 'closed-while-answering'],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n', 'closed-while-answering'],
  ])('of a connection that is closed after %j', async (text, kind) => {
    const called = await new Called().listen();
    for (const [index, how] of ['end', 'reset'].entries()) {
      const { response } = await called.send('GET', undefined, { fresh: true });
      const peer = await called.listener.peer(index);
      await peer.has(HEAD);
      if (text !== '') {
        await new Promise((resolve) => peer.socket.write(text, resolve));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      if (how === 'end') peer.socket.end();
      else peer.socket.resetAndDestroy!();
      await response.over;
      expect(response.failure).toEqual(
        kind === 'closed-before-response' ? { kind, isUnsent: false } : { kind },
      );
    }
    expect(called.pool).toMatchObject({ openCount: 0, idleCount: 0 });
    expect(called.clock.sweep.size).toBe(0);
  });

  it.each([
    ['HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n', 'switching-protocols'],
    ['HTTP/1.1 200 OK\nContent-Length: 0\n\n', 'bare-line-feed'],
    [
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      'length-and-chunked',
    ],
    ['HTTP/1.1 103 Hints\r\n\r\n'.repeat(101), 'too-many-informational'],
    [`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(70_000)}`, 'head-too-large'],
  ])('of the protocol break the connection off: %.40j', async (text, code) => {
    const called = await new Called().listen();
    const { response } = await called.send('GET');
    const peer = await called.listener.peer(0);
    peer.write(text);
    await response.over;
    expect(response.log.at(-1)).toBe(code);
    await peer.closed();
  });

  it('of a peer that sends heads without end cost no memory', async () => {
    const called = await new Called().listen();
    const { response } = await called.send('GET');
    const peer = await called.listener.peer(0);
    const endless = setInterval(() => {
      if (peer.socket.writableLength < 1e6) peer.write('HTTP/1.1 102 P\r\n\r\n'.repeat(1000));
    }, 1);
    await response.over;
    clearInterval(endless);
    expect(response.log.at(-1)).toBe('too-many-informational');
    await peer.closed();
  });

  it('to connect are named', async () => {
    const called = await new Called().listen();
    const server = createServer();
    const port = await listening(server);
    await new Promise((resolve) => server.close(resolve));
    const { failure } = await called.tryTake({}, called.poolTo(port));
    expect(failure?.kind).toBe('refused');
    expect(called.clock.sweep.size).toBe(0);
  });
});

describe('bytes that nobody asked for', () => {
  it.each(['HTTP/1.1 200 OK\r\n\r\n', 'x'])('on an idle connection close it: %j', async (text) => {
    const called = await new Called().listen();
    const first = await called.send('GET');
    const peer = await called.listener.peer(0);
    peer.write(OK);
    await first.response.over;
    peer.write(text);
    await peer.closed();
    expect(called.pool).toMatchObject({ openCount: 0, idleCount: 0 });
  });

  it('after a response close its connection', async () => {
    const called = await new Called().listen();
    const first = await called.send('GET');
    const peer = await called.listener.peer(0);
    peer.write(`${OK}HTTP/1.1 200 FORGED\r\nContent-Length: 0\r\n\r\n`);
    await first.response.over;
    expect(first.response).toMatchObject({ log: ['200', 'end'], text: 'ok' });
    expect(called.pool.idleCount).toBe(0);
    const second = await called.send('GET');
    (await called.listener.peer(1)).write(OK);
    await second.response.over;
    expect(second.response.response?.reason).toBe('OK');
  });

  it('before the first request close the connection, and no request is sent on it', async () => {
    const called = await new Called().listen();
    called.listener.onPeer = (peer) =>
      void peer.write('HTTP/1.1 200 FORGED\r\nContent-Length: 0\r\n\r\n');
    const connection = await called.take();
    const peer = await called.listener.peer(0);
    await peer.closed();
    expect(connection.isUsable).toBe(false);
    expect(peer.text).toBe('');
  });
});

describe('the time for a response', () => {
  it('counts from the last byte of the request that the peer took', async () => {
    const called = await new Called().listen();
    const { exchange, response } = await called.send('POST', {
      text: 'a',
      framing: { kind: 'chunked' },
      isOpen: true,
    });
    const peer = await called.listener.peer(0);
    await peer.has('a\r\n');
    for (let at = 0; at < 5; at += 1) {
      called.clock.advance(59_000);
      exchange.body.write(Buffer.from('b'));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    exchange.body.end();
    await peer.has('0\r\n\r\n');
    peer.write('HTTP/1.1 102 Processing\r\n\r\n');
    called.clock.advance(59_999);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(response.failure).toBeUndefined();
    called.clock.advance(1);
    await response.over;
    expect(response.failure?.kind).toBe('response-timeout');
    await peer.closed();
  });

  it('does not run out while the peer takes the request slowly', async () => {
    const called = await new Called().listen();
    called.listener.onPeer = ({ socket }) => socket.pause();
    const { exchange, response } = await called.send('POST', {
      text: '',
      framing: { kind: 'chunked' },
      isOpen: true,
    });
    const chunk = Buffer.alloc(64 * 1024);
    const fill = (): void => {
      while (exchange.body.write(chunk));
    };
    exchange.body.onDrain = fill;
    fill();
    const peer = await called.listener.peer(0);
    for (let at = 0; at < 4; at += 1) {
      peer.text = '';
      peer.socket.resume();
      await peer.until(() => peer.text.length > 4 * 1024 * 1024, 'a part of the body');
      peer.socket.pause();
      called.clock.advance(40_000);
    }
    expect(response.failure).toBeUndefined();
    called.clock.advance(60_000);
    expect(response.failure?.kind).toBe('response-timeout');
  });

  it('runs out if the peer takes nothing of the request', async () => {
    const called = await new Called().listen();
    called.listener.onPeer = ({ socket }) => socket.pause();
    const { exchange, response } = await called.send('POST', {
      text: '',
      framing: { kind: 'chunked' },
      isOpen: true,
    });
    const chunk = Buffer.alloc(64 * 1024);
    const fill = (): void => {
      while (exchange.body.write(chunk));
    };
    exchange.body.onDrain = fill;
    fill();
    await new Promise((resolve) => setTimeout(resolve, 200));
    called.clock.advance(50_000);
    expect(response.failure).toBeUndefined();
    called.clock.advance(60_000);
    expect(response.failure?.kind).toBe('response-timeout');
  });

  it('ends when the response has begun', async () => {
    const called = await new Called().listen();
    const { response } = await called.send('GET');
    const peer = await called.listener.peer(0);
    peer.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n');
    await response.begun;
    called.clock.advance(100_000_000);
    peer.write('ok');
    await response.over;
    expect(response.log).toEqual(['200', 'end']);
  });
});
