// The ends that a request can have on raw sockets: a process that closes, does not listen, is silent or answers nonsense, what is
// sent a second time, and bodies that nobody takes.
import { describe, expect, test } from 'vitest';
import { ForwardingPorts } from './support/forwarding-ports.ts';
import { dial, proxyAnswer, type RawPeer } from './support/raw-peer.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

describe('P19: a connection that the process closes before it answers', () => {
  test.each(['GET', 'HEAD'])('has %s sent once more, on a new connection', async (method) => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request(
      `${method} / HTTP/1.1`,
      'Host: a',
      'Content-Length: 3',
      '',
      'abc',
    );
    const first = await ports.process.next();
    await first.message();
    first.socket.destroy();
    const second = await ports.process.next();
    expect((await second.message()).body).toBe('abc');
    second.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    expect((await client.head())[0]).toBe('HTTP/1.1 200 OK');
    expect(ports.process.accepted).toBe(2);
  });

  test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'get'])(
    'has %s answered with 502, and never sent again',
    async (method) => {
      const ports = await ForwardingPorts.open();
      const client = await ports.request(`${method} / HTTP/1.1`, 'Host: a');
      const process = await ports.process.next();
      await process.head();
      process.socket.destroy();
      expect(await proxyAnswer(client)).toBe(
        '502 The process closed the connection before it answered.',
      );
      expect(ports.process.accepted).toBe(1);
    },
  );

  test('has a GET answered with 502 at the second time', async () => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request('GET / HTTP/1.1', 'Host: a');
    for (const _attempt of [1, 2]) {
      const process = await ports.process.next();
      await process.head();
      process.socket.destroy();
    }
    expect(await proxyAnswer(client)).toBe(
      '502 The process closed the connection before it answered.',
    );
    expect(ports.process.accepted).toBe(2);
  });

  test.each(['HTTP/1.1 103 Early Hints\r\n\r\n', 'HTTP/1.', 'HTTP/1.1 200 OK\r\n'])(
    'has a GET answered with 502 after a byte of a response: %j',
    async (begun) => {
      const ports = await ForwardingPorts.open();
      const client = await ports.request('GET / HTTP/1.1', 'Host: a');
      const process = await ports.process.next();
      await process.head();
      process.socket.end(begun);
      if (begun.includes('103')) await client.head();
      expect(await proxyAnswer(client)).toMatch(/^502 /);
      expect(ports.process.accepted).toBe(1);
    },
  );

  test('has a GET with a body beyond the limit answered with 502', async () => {
    const ports = await ForwardingPorts.open({ limits: { replayBytesMax: 4 } });
    const client = await ports.request(
      'GET / HTTP/1.1',
      'Host: a',
      'Content-Length: 5',
      '',
      'abcde',
    );
    const process = await ports.process.next();
    await process.message();
    process.socket.destroy();
    expect(await proxyAnswer(client)).toBe(
      '502 The process closed the connection before it answered.',
    );
    expect(ports.process.accepted).toBe(1);
  });

  test('has a GET in chunks of a byte sent once more, whose body takes at most twice its bytes of memory', async () => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request('GET / HTTP/1.1', 'Host: a', 'Transfer-Encoding: chunked');
    const first = await ports.process.next();
    await first.head();
    client.write('1\r\na\r\n'.repeat(3_000));
    await expect.poll(() => ports.keptBytes).toBeGreaterThanOrEqual(3_000);
    expect(ports.keptBytes).toBeLessThanOrEqual(6_000);
    first.socket.destroy();
    const second = await ports.process.next();
    await second.head();
    expect(await second.take('\r\n')).toBe('bb8\r\n');
    client.write('0\r\n\r\n');
    expect(await second.take('0\r\n\r\n')).toBe(`${'a'.repeat(3_000)}\r\n0\r\n\r\n`);
    second.write(OK);
    expect((await client.message()).body).toBe('ok');
    expect(ports.keptBytes).toBe(0);
  });

  test('has a GET answered with 502 for whose body those of other requests leave no room', async () => {
    const ports = await ForwardingPorts.open({ limits: { replayBytesTotalMax: 7 } });
    const get = ['GET / HTTP/1.1', 'Host: a', 'Content-Length: 4', '', 'abcd'];
    const clients = [await ports.request(...get)];
    const first = await ports.process.next();
    await first.message();
    clients.push(await ports.request(...get));
    const second = await ports.process.next();
    await second.message();
    expect(ports.keptBytes).toBe(4);
    second.socket.destroy();
    expect(await proxyAnswer(clients[1]!)).toBe(
      '502 The process closed the connection before it answered.',
    );
    first.write(OK);
    expect((await clients[0]!.message()).body).toBe('ok');
    expect(ports.keptBytes).toBe(0);
    const third = await ports.request(...get);
    await first.message();
    first.socket.destroy();
    const last = await ports.process.next();
    expect((await last.message()).body).toBe('abcd');
    last.write(OK);
    expect((await third.message()).body).toBe('ok');
    expect(ports.process.accepted).toBe(3);
  });

  test('has a GET answered with 503 if nothing listens at the second time', async () => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request('GET / HTTP/1.1', 'Host: a');
    const process = await ports.process.next();
    await process.head();
    await ports.process.close();
    process.socket.destroy();
    expect(await proxyAnswer(client)).toBe('503 The process is not listening.');
  });

  test('P20: has the second attempt use no other idle connection', async () => {
    const ports = await ForwardingPorts.open();
    const clients = [
      await ports.request('GET /1 HTTP/1.1', 'Host: a'),
      await ports.request('GET /2 HTTP/1.1', 'Host: a'),
    ];
    const idle = [await ports.process.next(), await ports.process.next()];
    for (const peer of idle) {
      await peer.head();
      peer.write(OK);
    }
    for (const client of clients) await client.message();
    clients[0]!.write('GET /3 HTTP/1.1\r\nHost: a\r\n\r\n');
    const used = await Promise.race(idle.map(async (peer) => peer.head().then(() => peer)));
    used.socket.destroy();
    const third = await ports.process.next();
    expect((await third.head())[0]).toBe('GET /3 HTTP/1.1');
    third.write(OK);
    expect((await clients[0]!.message()).body).toBe('ok');
  });
});

describe('a request that is not sent twice', () => {
  test('uses an idle connection to the process only within a second', async () => {
    const ports = await ForwardingPorts.open();
    const client = await dial(ports.servicePort);
    const post = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n';
    client.write(post);
    const first = await ports.process.next();
    await first.head();
    first.write(OK);
    await client.message();
    ports.advance(900);
    client.write(post);
    await first.head();
    first.write(OK);
    await client.message();
    ports.advance(1100);
    client.write(post);
    const second = await ports.process.next();
    await second.head();
    second.write(OK);
    await client.message();
    expect(ports.process.accepted).toBe(2);
  });
});

describe('a process', () => {
  test('P21: that does not listen is 503', async () => {
    const ports = await ForwardingPorts.open();
    await ports.process.close();
    const client = await ports.request('POST / HTTP/1.1', 'Host: a', 'Content-Length: 2', '', 'ab');
    expect(await proxyAnswer(client)).toBe('503 The process is not listening.');
  });

  test('P16: that does not answer in time is 504, and its late response is discarded', async () => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request('GET / HTTP/1.1', 'Host: a');
    const process = await ports.process.next();
    await process.head();
    ports.advance(59_900);
    ports.advance(200);
    expect(await proxyAnswer(client)).toBe(
      '504 The process did not begin to answer within 60 seconds.',
    );
    process.write(OK);
    await process.rest();
    client.write('GET /2 HTTP/1.1\r\nHost: a\r\n\r\n');
    const next = await ports.process.next();
    expect((await next.head())[0]).toBe('GET /2 HTTP/1.1');
    next.write('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nnew');
    expect((await client.message()).body).toBe('new');
  });

  test('P16: that neither answers nor asks for the body of a request that waits for it is 504', async () => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request(
      'PUT / HTTP/1.1',
      'Host: a',
      'Expect: 100-continue',
      'Content-Length: 5',
    );
    await (await ports.process.next()).head();
    ports.advance(59_900);
    ports.advance(200);
    expect(await proxyAnswer(client)).toBe(
      '504 The process did not begin to answer within 60 seconds.',
    );
  });

  test('P16: that has begun its answer may be silent for an hour', async () => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request('GET / HTTP/1.1', 'Host: a');
    const process = await ports.process.next();
    await process.head();
    process.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n');
    await client.head();
    ports.advance(3_600_000);
    process.write('ok');
    expect(await client.take('ok')).toBe('ok');
  });

  test.each([
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n',
    'HTTP/2 200 OK\r\n\r\n',
    'nonsense\r\n\r\n',
  ])('P6: whose response is malformed is 502: %j', async (response) => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request('GET / HTTP/1.1', 'Host: a');
    const process = await ports.process.next();
    await process.head();
    process.write(response);
    expect(await proxyAnswer(client)).toMatch(
      /^502 The process sent a response that is not valid: /,
    );
    await process.rest();
  });

  test('P6: that sends more than its response never has that become the next one', async () => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request('GET /1 HTTP/1.1', 'Host: a');
    const process = await ports.process.next();
    await process.head();
    process.write(`${OK}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`);
    expect((await client.message()).body).toBe('ok');
    client.write('GET /2 HTTP/1.1\r\nHost: a\r\n\r\n');
    const next = await ports.process.next();
    await next.head();
    next.write(OK);
    expect((await client.message()).body).toBe('ok');
  });
});

describe('a body that nobody takes', () => {
  const CHUNK = Buffer.alloc(1 << 20);

  /** Writes until the socket has taken nothing for a while; returns the number of bytes that it has taken. */
  async function fill(peer: RawPeer): Promise<number> {
    let written = 0;
    let quietTurns = 0;
    while (quietTurns < 50 && written < 256 * CHUNK.length) {
      if (peer.socket.writableLength === 0) {
        peer.socket.write(CHUNK);
        written += CHUNK.length;
        quietTurns = 0;
      }
      quietTurns += 1;
      await new Promise((resolve) => setTimeout(resolve, 4));
    }
    return written - peer.socket.writableLength;
  }

  test('P17: is not read from a client beyond what waits for the process', async () => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request('POST / HTTP/1.1', 'Host: a', 'Content-Length: 999999999');
    const process = await ports.process.next();
    await process.head();
    process.socket.pause();
    expect(await fill(client)).toBeLessThan(32 * CHUNK.length);
  });

  test('P17: is not read from the process beyond what waits for the client', async () => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request('GET / HTTP/1.1', 'Host: a');
    const process = await ports.process.next();
    await process.head();
    process.write('HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n');
    await client.head();
    client.socket.pause();
    expect(await fill(process)).toBeLessThan(32 * CHUNK.length);
  });
});
