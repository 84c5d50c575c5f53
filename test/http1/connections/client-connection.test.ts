// ClientConnection over TCP, byte for byte: what is sent and what is received.
import { describe, expect, it } from 'vitest';
import { Called } from './called.ts';

const HEAD = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

describe('a request', () => {
  it('is written with its body, and its connection is used again', async () => {
    const called = await new Called().listen();
    const first = await called.send('PROPFIND', {
      text: 'hi',
      framing: { kind: 'length', bytes: 2 },
    });
    const peer = await called.listener.peer(0);
    await peer.has('hi');
    expect(peer.text).toBe('PROPFIND / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi');
    peer.write(OK);
    await first.response.over;
    expect(first.response).toMatchObject({ log: ['200', 'end'], text: 'ok' });
    const second = await called.send('GET');
    expect(second.connection).toBe(first.connection);
    await peer.has(HEAD);
    peer.write(OK);
    await second.response.over;
    expect(called.listener.peers.length).toBe(1);
  });

  it('streams a chunked body with trailers', async () => {
    const called = await new Called().listen();
    const { exchange, response } = await called.send('POST', {
      text: 'abc',
      framing: { kind: 'chunked' },
      isOpen: true,
    });
    const peer = await called.listener.peer(0);
    await peer.has('3\r\nabc\r\n');
    exchange.body.write(Buffer.from('de'));
    exchange.body.end(['X-T', '1']);
    await peer.has('X-T');
    expect(peer.text).toBe(
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-T: 1\r\n\r\n',
    );
    peer.write(OK);
    await response.over;
    expect(called.pool.idleCount).toBe(1);
  });

  it('is slowed down by a peer that does not read', async () => {
    const called = await new Called().listen();
    called.listener.onPeer = ({ socket }) => socket.pause();
    const { exchange, response } = await called.send('POST', {
      text: '',
      framing: { kind: 'chunked' },
      isOpen: true,
    });
    const chunk = Buffer.alloc(64 * 1024);
    let written = 0;
    const fill = (): void => {
      while (written < 100 * 1024 * 1024) {
        written += chunk.length;
        if (!exchange.body.write(chunk)) return;
      }
      exchange.body.end();
    };
    exchange.body.onDrain = fill;
    fill();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(written).toBeLessThan(20 * 1024 * 1024);
    const peer = await called.listener.peer(0);
    peer.socket.removeAllListeners('data').resume();
    let tail = '';
    peer.socket.on('data', (bytes: Buffer) => {
      tail = (tail + bytes.toString('latin1')).slice(-5);
      if (tail === '0\r\n\r\n') peer.write(OK);
    });
    await response.over;
    expect(response.log).toEqual(['200', 'end']);
    expect(written).toBe(100 * 1024 * 1024);
  });

  it('whose body is broken off never ends validly', async () => {
    const called = await new Called().listen();
    const { exchange, response } = await called.send('POST', {
      text: 'abc',
      framing: { kind: 'chunked' },
      isOpen: true,
    });
    const peer = await called.listener.peer(0);
    await peer.has('abc\r\n');
    exchange.body.destroy();
    await peer.closed();
    expect(peer.error?.code).toBe('ECONNRESET');
    expect(peer.text.endsWith('3\r\nabc\r\n')).toBe(true);
    expect(response.log).toEqual([]);
    expect(called.pool.openCount).toBe(0);
  });

  it('that is cancelled is noticed by the peer', async () => {
    const called = await new Called().listen();
    const { exchange, response } = await called.send('GET');
    const peer = await called.listener.peer(0);
    await peer.has(HEAD);
    exchange.cancel();
    await peer.closed();
    expect(peer.error?.code).toBe('ECONNRESET');
    expect(response.log).toEqual([]);
  });
});

describe('a response', () => {
  it.each([
    ['HTTP/1.1 103 Hints\r\nLink: a\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n', ['103', '100'], true],
    ['', [], true],
  ])('passes informational ones: %j', async (before, log, isIdle) => {
    const called = await new Called().listen();
    const { response } = await called.send('GET');
    const peer = await called.listener.peer(0);
    peer.write(before + OK);
    await response.over;
    expect(response.log).toEqual([...log, '200', 'end']);
    expect(called.pool.idleCount === 1).toBe(isIdle);
  });

  it('has trailers, field order and latin1', async () => {
    const called = await new Called().listen();
    const { response } = await called.send('GET');
    const peer = await called.listener.peer(0);
    peer.write(
      'HTTP/1.1 200 Ja\xe4\r\nb: 1\r\nA: \xff\r\nb: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nT: x\r\n\r\n',
    );
    await response.over;
    expect(response.log).toEqual(['200', 'end T x']);
    expect(response.response).toMatchObject({ reason: 'Ja\xe4' });
    expect(response.response!.fields.flat.slice(0, 6)).toEqual(['b', '1', 'A', '\xff', 'b', '2']);
  });

  it.each([
    ['HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n', true],
    ['GET', 'HTTP/1.1 204 No\r\n\r\n', true],
    ['GET', 'HTTP/1.1 304 No\r\nContent-Length: 9\r\n\r\n', true],
    ['GET', 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n', false],
    ['GET', 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n', false],
  ])('without a body is complete at once: %s %j', async (method, text, isReused) => {
    const called = await new Called().listen();
    const { response } = await called.send(method);
    (await called.listener.peer(0)).write(text);
    await response.over;
    expect(response.log.at(-1)).toBe('end');
    expect(called.pool.idleCount).toBe(isReused ? 1 : 0);
  });

  it('lasts until the connection ends, if that end is clean', async () => {
    const called = await new Called().listen();
    for (const [index, isClean] of [true, false].entries()) {
      const { response } = await called.send('GET', undefined, { fresh: true });
      const peer = await called.listener.peer(index);
      await peer.has(HEAD);
      peer.write('HTTP/1.1 200 OK\r\n\r\nabc');
      await response.begun;
      if (isClean) peer.write('def').socket.end();
      else peer.socket.resetAndDestroy!();
      await response.over;
      expect(response.log).toEqual(['200', isClean ? 'end' : 'closed-while-answering']);
      expect(response.text).toBe(isClean ? 'abcdef' : 'abc');
    }
    expect(called.pool.openCount).toBe(0);
  });

  it('is read only as fast as its receiver takes it', async () => {
    const called = await new Called().listen();
    const { response, exchange } = await called.send('GET');
    const bytes = 64 * 1024 * 1024;
    const peer = await called.listener.peer(0);
    let received = 0;
    response.data = (data) => {
      received += data.length;
      exchange.pause();
    };
    peer.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n`);
    peer.socket.end(Buffer.alloc(bytes));
    await response.begun;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(peer.socket.writableLength).toBeGreaterThan(0);
    expect(received).toBeLessThan(200_000);
    response.data = (data) => {
      received += data.length;
    };
    called.clock.advance(1_000_000);
    exchange.resume();
    await response.over;
    expect(response.log).toEqual(['200', 'end']);
    expect(received).toBe(bytes);
  });

  it('that has arrived before a reset is given whole', async () => {
    const called = await new Called().listen();
    const { response, exchange } = await called.send('GET');
    const peer = await called.listener.peer(0);
    const seen: string[] = [];
    response.data = (data) => {
      seen.push(data.toString());
      exchange.pause();
    };
    peer.write(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n',
    );
    await response.begun;
    peer.socket.resetAndDestroy!();
    await peer.closed();
    await new Promise((resolve) => setTimeout(resolve, 20));
    exchange.resume();
    exchange.resume();
    await response.over;
    expect(seen).toEqual(['a', 'b']);
    expect(response.log).toEqual(['200', 'end']);
    expect(called.pool.openCount).toBe(0);
  });

  it('reaches a client that still sends though the peer closes without reading', async () => {
    const called = await new Called().listen();
    called.listener.onPeer = ({ socket }) => {
      socket.once('data', () => socket.pause());
    };
    const { exchange, response } = await called.send('POST', {
      text: 'a',
      framing: { kind: 'chunked' },
      isOpen: true,
    });
    const chunk = Buffer.alloc(64 * 1024);
    const fill = (): void => {
      while (response.response === undefined && exchange.body.write(chunk));
    };
    exchange.body.onDrain = fill;
    fill();
    const peer = await called.listener.peer(0);
    // Until the peer's buffers are full: from then on nothing is written.
    await new Promise((resolve) => setTimeout(resolve, 100));
    peer.write('HTTP/1.1 413 Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno');
    peer.socket.destroy();
    await response.over;
    expect(response).toMatchObject({ log: ['413', 'end'], text: 'no' });
  });

  it('may come before the request is sent, and ends the connection', async () => {
    const called = await new Called().listen();
    const { exchange, response } = await called.send('POST', {
      text: 'abc',
      framing: { kind: 'length', bytes: 1_000 },
      isOpen: true,
    });
    const peer = await called.listener.peer(0);
    await peer.has('abc');
    peer.write('HTTP/1.1 413 Large\r\nContent-Length: 2\r\n\r\n');
    await response.begun;
    expect(exchange.body.write(Buffer.from('def'))).toBe(true);
    await peer.has('abcdef');
    peer.write('no');
    await response.over;
    expect(response).toMatchObject({ log: ['413', 'end'], text: 'no' });
    await peer.closed();
    expect(called.pool.openCount).toBe(0);
    exchange.body.write(Buffer.from('ghi'));
    exchange.body.end();
  });
});
