// Responses and bodies through the real program on raw sockets, and how each side learns that the other has left.
import { describe, expect, test } from 'vitest';
import { proxyAnswer, type RawPeer } from '../forward/support/raw-peer.ts';
import { OK, passed, received } from '../support/web-pods/passed-request.ts';
import { podPairOfFile } from '../support/web-pods/pod-pair.ts';
import { GATEWAY_ID } from '../support/web-pods/web-pod.ts';

const pods = podPairOfFile();

async function firstOf(peer: RawPeer): Promise<string> {
  return (await peer.head())[0]!;
}

async function responseTo(response: string, method = 'GET'): Promise<RawPeer> {
  const client = await pods.web.connectAs(GATEWAY_ID);
  client.write(`${method} / HTTP/1.1\r\nHost: a\r\n\r\n`);
  await received(pods.web, response);
  return client;
}

describe('a response', () => {
  test('P7: passes as it was written, without the mark of the proxy and the fields of the connection', async () => {
    const client = await responseTo(
      [
        'HTTP/1.1 299 My \u00fc Reason',
        'set-cookie: a=1',
        'Set-Cookie: b=2',
        'X-Svc-Answered-By: proxy',
        'X-Empty: ',
        'X-Latin: \u00ff',
        'Connection: keep-alive, X-Hop',
        'X-Hop: 1',
        'Keep-Alive: timeout=5',
        'Content-Length: 2',
        '',
        'ok',
      ].join('\r\n'),
    );
    expect(await client.message()).toEqual({
      lines: [
        'HTTP/1.1 299 My \u00fc Reason',
        'set-cookie: a=1',
        'Set-Cookie: b=2',
        'X-Empty: ',
        'X-Latin: \u00ff',
        'Content-Length: 2',
      ],
      body: 'ok',
    });
  });

  test('P6, P13: informational responses pass, and what follows a response never becomes the next one', async () => {
    const client = await responseTo(
      `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n${OK}`,
    );
    expect(await client.head()).toEqual(['HTTP/1.1 103 Early Hints', 'Link: </a>']);
    expect(await client.head()).toEqual(['HTTP/1.1 204 No Content']);
    expect(await passed(client, ['GET /next HTTP/1.1', 'Host: a'], pods.web)).toContain(
      'GET /next HTTP/1.1',
    );
  });

  test('to HEAD has the length of the other, and no body', async () => {
    const client = await responseTo('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n', 'HEAD');
    expect(await client.head()).toEqual(['HTTP/1.1 200 OK', 'Content-Length: 10']);
    expect((await passed(client, ['GET /next HTTP/1.1', 'Host: a'], pods.web))[0]).toBe(
      'GET /next HTTP/1.1',
    );
  });
});

describe('a body', () => {
  test('P1, P14: of any method and framing reaches the process as one request, with its trailers', async () => {
    for (const method of ['DELETE', 'OPTIONS', 'GET', 'TRACE', 'POST']) {
      const client = await pods.web.connectAs(GATEWAY_ID);
      client.write(
        `${method} / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nabcde\r\n0\r\nX-Sum: 1\r\nX-Svc-Caller: local\r\n\r\n`,
      );
      const process = await pods.web.process.next();
      expect(await process.head()).toContain('Transfer-Encoding: chunked');
      expect(await process.take('0\r\nX-Sum: 1\r\n\r\n')).toBe(
        '5\r\nabcde\r\n0\r\nX-Sum: 1\r\n\r\n',
      );
      process.write(OK);
      expect((await client.message()).body).toBe('ok');
      process.socket.end();
    }
  });

  test('P12: waits for the 100 of the process where the client expects one', async () => {
    const client = await pods.web.connectAs(GATEWAY_ID);
    client.write('POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n');
    const process = await pods.web.process.next();
    expect(await process.head()).toContain('Expect: 100-continue');
    process.write('HTTP/1.1 100 Continue\r\n\r\n');
    expect(await client.head()).toEqual(['HTTP/1.1 100 Continue']);
    client.write('ab');
    await process.take('ab');
    process.write(OK);
    expect((await client.message()).body).toBe('ok');
    process.socket.end();
  });

  test('P18: that breaks off never ends validly at the process', async () => {
    const client = await pods.web.connectAs(GATEWAY_ID);
    client.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n');
    const process = await pods.web.process.next();
    await process.head();
    await process.take('abcde\r\n');
    client.socket.destroy();
    expect(await process.rest()).toBe('');
  });
});

test('P15: events pass one by one, and the end of one side reaches the other', async () => {
  const client = await pods.web.connectAs(GATEWAY_ID);
  client.write('GET /events HTTP/1.1\r\nHost: a\r\n\r\n');
  const process = await pods.web.process.next();
  await process.head();
  process.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n');
  await client.head();
  for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
    process.write(event);
    expect(await client.take(event)).toContain(event);
    client.received = '';
  }
  client.socket.destroy();
  // The process need not send a further event to learn of it.
  expect(await process.rest()).toBe('');
  expect(process.ended).toBe('reset');

  const second = await pods.web.connectAs(GATEWAY_ID);
  second.write('GET /events HTTP/1.1\r\nHost: a\r\n\r\n');
  const broken = await pods.web.process.next();
  await broken.head();
  broken.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n');
  await second.take('abc\r\n');
  broken.socket.destroy();
  expect(await second.rest()).toBe('');
});

test('P19: a GET whose connection closes before the response is sent once more, a POST never', async () => {
  const client = await pods.web.connectAs(GATEWAY_ID);
  client.write('GET /again HTTP/1.1\r\nHost: a\r\n\r\n');
  const first = await pods.web.process.next();
  await first.head();
  first.socket.destroy();
  expect((await received(pods.web))[0]).toBe('GET /again HTTP/1.1');
  expect((await client.message()).body).toBe('ok');
});

test('P19: a POST whose connection closes before the response is 502, and so is a GET at the second time', async () => {
  const client = await pods.web.connectAs(GATEWAY_ID);
  for (const [method, times] of [
    ['POST', 1],
    ['DELETE', 1],
    ['GET', 2],
  ] as const) {
    const { accepted } = pods.web.process;
    client.write(`${method} /once HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`);
    for (let time = 0; time < times; time += 1) {
      const process = await pods.web.process.next();
      await process.head();
      process.socket.destroy();
    }
    expect(await proxyAnswer(client)).toBe(
      '502 The process closed the connection before it answered.',
    );
    expect(pods.web.process.accepted).toBe(accepted + times);
  }
});

test('P19: a GET of whose response a byte has come is 502, and is not sent again', async () => {
  const hints = 'HTTP/1.1 103 Early Hints\r\n\r\n';
  for (const [begun, passes] of [
    [hints, hints],
    ['HTTP/1.1 2', ''],
  ] as const) {
    const client = await pods.web.connectAs(GATEWAY_ID);
    const { accepted } = pods.web.process;
    client.write('GET /begun HTTP/1.1\r\nHost: a\r\n\r\n');
    const process = await pods.web.process.next();
    await process.head();
    process.socket.end(begun);
    await client.take(passes);
    expect(await proxyAnswer(client)).toMatch(/^502 /);
    expect(pods.web.process.accepted).toBe(accepted + 1);
  }
});

test('P12: an expectation passes, and a client of HTTP/1.0 gets no 100', async () => {
  const client = await pods.web.connectAs(GATEWAY_ID);
  expect(await passed(client, ['GET / HTTP/1.1', 'Host: a', 'Expect: foo'], pods.web)).toContain(
    'Expect: foo',
  );
  const old = await pods.web.connectAs(GATEWAY_ID);
  old.write('POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nab');
  await received(pods.web, `HTTP/1.1 100 Continue\r\n\r\n${OK}`);
  expect((await old.head())[0]).toBe('HTTP/1.1 200 OK');
});

test('P13: any informational response passes, also a 100 that nobody asked for', async () => {
  const client = await responseTo(
    `HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n${OK}`,
  );
  for (const line of ['102 Processing', '100 Continue', '103 Early Hints', '200 OK'])
    expect(await firstOf(client)).toBe(`HTTP/1.1 ${line}`);
});

test('P22: pipelined requests are answered in their order', async () => {
  const client = await pods.web.connectAs(GATEWAY_ID);
  client.write('GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n');
  const one = await pods.web.process.next();
  const two = await pods.web.process.next();
  const lines = new Map([
    [await firstOf(one), one],
    [await firstOf(two), two],
  ]);
  lines.get('GET /2 HTTP/1.1')!.write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2');
  lines.get('GET /1 HTTP/1.1')!.write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1');
  expect([(await client.message()).body, (await client.message()).body]).toEqual(['1', '2']);
  one.socket.end();
  two.socket.end();
});

test('P15: a client that leaves before its response has begun ends the connection to the process', async () => {
  const client = await pods.web.connectAs(GATEWAY_ID);
  client.write('GET /report HTTP/1.1\r\nHost: a\r\n\r\n');
  const process = await pods.web.process.next();
  await process.head();
  client.socket.destroy();
  expect(await process.rest()).toBe('');
  expect(process.ended).toBe('reset');
});

test('P15: so does one that leaves while it waits for 100, or while nobody reads its body', async () => {
  for (const body of ['', 'x'.repeat(1_000_000)]) {
    const client = await pods.web.connectAs(GATEWAY_ID);
    client.write(
      `POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9000000\r\n\r\n${body}`,
    );
    const process = await pods.web.process.next();
    await process.head();
    client.socket.destroy();
    await process.rest();
    expect(process.ended).toBe('reset');
  }
});

test('P23: a client that has ended its side gets its response, and 102 while it waits', async () => {
  const client = await pods.web.connectAs(GATEWAY_ID);
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  client.socket.end();
  const process = await pods.web.process.next();
  await process.head();
  expect(await client.head()).toEqual(['HTTP/1.1 102 Processing']);
  process.write(OK);
  expect((await client.message()).body).toBe('ok');
  process.socket.end();
});
