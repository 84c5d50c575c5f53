// Requests on raw sockets through the service port: what the process receives, what the client gets, and what happens when
// one of them breaks off.
import { describe, expect, test } from 'vitest';
import { ForwardingPorts } from './support/forwarding-ports.ts';
import { dial, proxyAnswer } from './support/raw-peer.ts';
import { receivedLines, transcriptsOf, TRANSCRIPT_VERSIONS } from './support/transcripts.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const PLATFORM = [
  'X-Svc-Caller: internet',
  'X-Forwarded-Proto: https',
  'X-Forwarded-Host: a',
  'X-Forwarded-Port: 443',
];

describe('a request', () => {
  test('reaches the process, and its response the client as it was written', async () => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request(
      'POST /x?y HTTP/1.1',
      'Host: a',
      'Content-Length: 3',
      '',
      'abc',
    );
    const process = await ports.process.next();
    expect(await process.message()).toEqual({
      lines: ['POST /x?y HTTP/1.1', 'Host: a', 'Content-Length: 3', ...PLATFORM],
      body: 'abc',
    });
    const head = [
      'HTTP/1.1 299 Fine \u00e9',
      'set-cookie: a=1',
      'Set-Cookie: b=2',
      'X-Empty: ',
      'X-Latin: \u00ff',
      'Content-Length: 4',
    ];
    process.write(`${head.join('\r\n')}\r\nX-Svc-Answered-By: proxy\r\n\r\nbody`);
    expect(await client.message()).toEqual({ lines: head, body: 'body' });
    process.socket.destroy();
  });

  test.each(
    transcriptsOf(TRANSCRIPT_VERSIONS.at(-1) ?? '').filter(
      ({ from, to }) => from !== undefined && to === undefined,
    ),
  )('is received as recorded $name', async (transcript) => {
    const { service, from, request } = transcript;
    const own = { project: undefined, baseDomain: undefined, ...service };
    const callers = ['ledger.bank'];
    const ports = await ForwardingPorts.open({ own, callers });
    ports.peer = from!.isMounted
      ? { caller: { kind: 'service', project: 'shop', service: 'front' }, isMount: true }
      : { caller: from!.caller, isMount: false };
    const isChunked = request.includes('Transfer-Encoding: chunked');
    const body = isChunked ? '0\r\n\r\n' : 'x'.repeat(7);
    const client = await ports.request(...request, '', body);
    const process = await ports.process.next();
    const lines = (await process.head()).filter((line) => line !== 'Transfer-Encoding: chunked');
    expect(lines).toEqual(receivedLines(transcript));
    client.socket.destroy();
  });

  test.each(['DELETE', 'OPTIONS', 'GET', 'TRACE', 'BREW', 'QUERY'])(
    'P1, P40: %s has its body at the process, with its framing',
    async (method) => {
      const ports = await ForwardingPorts.open();
      const client = await ports.request(
        `${method} / HTTP/1.1`,
        'Host: a',
        'Content-Length: 5',
        '',
        'hello',
      );
      const process = await ports.process.next();
      expect((await process.message()).body).toBe('hello');
      process.write(OK);
      expect((await client.message()).body).toBe('ok');
      client.write(
        `${method} / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;x=1\r\nhello\r\n0\r\nX-Sum: 1\r\nX-Svc-Caller: local\r\n\r\n`,
      );
      const lines = await process.head();
      expect(lines.filter((line) => line === 'Transfer-Encoding: chunked')).toHaveLength(1);
      expect(await process.take('0\r\nX-Sum: 1\r\n\r\n')).toBe(
        '5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n',
      );
      process.write(OK);
      expect((await client.message()).body).toBe('ok');
    },
  );

  test('P22: on one connection are answered in their order', async () => {
    const ports = await ForwardingPorts.open();
    const client = await dial(ports.servicePort);
    for (const path of ['/1', '/2']) client.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    const peers = [await ports.process.next(), await ports.process.next()];
    const paths = await Promise.all(
      peers.map(async (peer) => (await peer.head())[0]!.split(' ')[1]),
    );
    for (const path of ['/2', '/1'])
      peers[paths.indexOf(path)]!.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n${path}`);
    expect([(await client.message()).body, (await client.message()).body]).toEqual(['/1', '/2']);
  });

  test('that is malformed reaches nobody, and is answered in the form of the proxy', async () => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request('GET / HTTP/1.1', 'Host: a', 'Host: b');
    expect(await proxyAnswer(client)).toBe('400 The request has more than one Host field.');
    await client.rest();
    expect(ports.process.accepted).toBe(0);
  });
});

describe('a response', () => {
  test('P12, P13: informational ones pass, and 100 only from the process', async () => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request(
      'PUT / HTTP/1.1',
      'Host: a',
      'Expect: 100-continue',
      'Content-Length: 2',
    );
    const process = await ports.process.next();
    expect(await process.head()).toContain('Expect: 100-continue');
    process.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n');
    expect(await client.head()).toEqual(['HTTP/1.1 103 Early Hints', 'Link: </a>']);
    expect(await client.head()).toEqual(['HTTP/1.1 100 Continue']);
    client.write('ab');
    expect(await process.take('ab')).toBe('ab');
    process.write(OK);
    expect((await client.message()).body).toBe('ok');
  });

  test('P12: that refuses an expectation passes, and the connections close', async () => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request(
      'PUT / HTTP/1.1',
      'Host: a',
      'Expect: 100-continue',
      'Content-Length: 2',
    );
    const process = await ports.process.next();
    await process.head();
    process.write('HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n');
    expect((await client.message()).lines).toEqual([
      'HTTP/1.1 417 No',
      'Content-Length: 0',
      'Connection: close',
    ]);
    await Promise.all([client.rest(), process.rest()]);
  });

  test('P11: that switches protocols is 502', async () => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request(
      'GET / HTTP/1.1',
      'Host: a',
      'Connection: Upgrade',
      'Upgrade: websocket',
    );
    const process = await ports.process.next();
    expect((await process.head()).join()).not.toMatch(/upgrade/i);
    process.write(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
    );
    expect(await proxyAnswer(client)).toMatch(
      /^502 The process sent a response that is not valid: /,
    );
    await process.rest();
  });

  test('P14: has its trailers', async () => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request('GET / HTTP/1.1', 'Host: a');
    const process = await ports.process.next();
    await process.head();
    process.write(
      'HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\nX-Svc-Answered-By: proxy\r\n\r\n',
    );
    expect(await client.head()).toEqual(['HTTP/1.1 200 OK', 'Transfer-Encoding: chunked']);
    expect(await client.take('X-Sum: 1\r\n\r\n')).toBe('2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n');
  });

  test('P15: passes event by event, and breaks off where the process does', async () => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request('GET /events HTTP/1.1', 'Host: a');
    const process = await ports.process.next();
    await process.head();
    process.write(
      'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    await client.head();
    for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
      process.write(`9\r\n${event}\r\n`);
      expect(await client.take(`${event}\r\n`)).toBe(`9\r\n${event}\r\n`);
    }
    process.socket.resetAndDestroy();
    expect(await client.rest()).toBe('');
    expect(client.ended).toBe('reset');
  });

  test('that comes before the whole request passes, and both connections close', async () => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request(
      'POST / HTTP/1.1',
      'Host: a',
      'Content-Length: 1000000',
      '',
      'abc',
    );
    const process = await ports.process.next();
    await process.take('abc');
    process.write('HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno');
    expect(await client.message()).toEqual({
      lines: ['HTTP/1.1 413 Too Large', 'Content-Length: 2', 'Connection: close'],
      body: 'no',
    });
    await Promise.all([client.rest(), process.rest()]);
  });

  test('P23: reaches a client that has ended its side', async () => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request('GET / HTTP/1.1', 'Host: a');
    client.socket.end();
    const process = await ports.process.next();
    await process.head();
    process.write(OK);
    expect((await client.message()).body).toBe('ok');
  });
});

describe('a client that leaves', () => {
  test('P18: within its body leaves the process with a body that is not complete', async () => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request(
      'POST / HTTP/1.1',
      'Host: a',
      'Transfer-Encoding: chunked',
      '',
      '3\r\nabc\r\n',
    );
    const process = await ports.process.next();
    await process.take('abc\r\n');
    client.socket.destroy();
    expect(await process.rest()).toBe('');
    expect(process.ended).toBe('reset');
  });

  test('P18: so does one whose body is malformed, and it gets an answer', async () => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request(
      'POST / HTTP/1.1',
      'Host: a',
      'Transfer-Encoding: chunked',
      '',
      '3\r\nabc\r\n',
    );
    const process = await ports.process.next();
    await process.take('abc\r\n');
    client.write('xyz\r\n');
    expect(await proxyAnswer(client)).toMatch(/^400 The size of a chunk /);
    expect(await process.rest()).toBe('');
  });

  test('P15: during the response ends the connection to the process', async () => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request('GET /events HTTP/1.1', 'Host: a');
    const process = await ports.process.next();
    await process.head();
    process.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n');
    await client.head();
    client.socket.resetAndDestroy();
    expect(await process.rest()).toBe('');
  });
});

describe('a request that is not admitted', () => {
  const service = { kind: 'service', project: 'bank', service: 'ledger' } as const;

  test.each([
    [
      { caller: service, isMount: false },
      /^403 The service bank\/ledger may not call this service/,
    ],
    [{ caller: undefined, isMount: false }, /^403 The caller certificate is unrecognised/],
    [{ caller: service, isMount: true }, /^403 The request is under another project's mount/],
  ])('is answered 403, and reaches nobody', async (peer, expected) => {
    const ports = await ForwardingPorts.open({ mounts: [{ path: '/m', service: 'cart' }] });
    ports.peer = peer;
    const client = await ports.request('GET /m HTTP/1.1', 'Host: a', 'X-Svc-Caller: local');
    expect(await proxyAnswer(client)).toMatch(expected);
    expect([ports.process.accepted, ports.reports]).toEqual([0, []]);
  });
});

describe('HTTP/1.0', () => {
  test('gets a body of unknown length until the end of the connection, and no informational response', async () => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request('GET / HTTP/1.0');
    const process = await ports.process.next();
    expect(await process.head()).toContain('Host: web-shop.apps.example.com');
    process.write(
      'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    );
    expect(await client.rest()).toBe('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok');
  });

  test('of the process is passed on as HTTP/1.1', async () => {
    const ports = await ForwardingPorts.open();
    const client = await ports.request('GET / HTTP/1.1', 'Host: a');
    const process = await ports.process.next();
    await process.head();
    process.socket.end('HTTP/1.0 200 OK\r\n\r\nuntil close');
    expect(await client.take('0\r\n\r\n')).toBe(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nuntil close\r\n0\r\n\r\n',
    );
  });
});

test('HEAD has the fields of its response, and no body', async () => {
  const ports = await ForwardingPorts.open();
  const client = await ports.request('HEAD / HTTP/1.1', 'Host: a');
  const process = await ports.process.next();
  await process.head();
  process.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n');
  expect(await client.head()).toEqual(['HTTP/1.1 200 OK', 'Content-Length: 5']);
  client.write('HEAD /2 HTTP/1.1\r\nHost: a\r\n\r\n');
  await process.head();
  process.socket.destroy();
  const second = await ports.process.next();
  await second.head();
  await ports.process.close();
  second.socket.destroy();
  const lines = await client.head();
  expect([lines[0], lines.at(-1)]).toEqual([
    'HTTP/1.1 502 Bad Gateway',
    'X-Svc-Answered-By: proxy',
  ]);
  client.socket.end();
  expect(await client.rest()).toBe('');
});
