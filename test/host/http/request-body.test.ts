import { describe, expect, test } from 'vitest';
import type { EndpointRequest } from '../../../model/endpoint.ts';
import {
  ask,
  BYTES_BODY,
  descriptorOf,
  get,
  JSON_BODY,
  ok,
  RawClient,
  start,
  TEXT_BODY,
} from './http-harness.ts';

const ROUTES = descriptorOf([
  ['POST', '/json', JSON_BODY],
  ['POST', '/text', TEXT_BODY],
  ['POST', '/bytes', BYTES_BODY],
  ['POST', '/none'],
  ['GET', '/none'],
  ['PATCH', '/json', JSON_BODY],
  ['POST', '/optional/json', optional(JSON_BODY)],
  ['POST', '/optional/text', optional(TEXT_BODY)],
  ['POST', '/optional/bytes', optional(BYTES_BODY)],
]);

function optional<Route extends { readonly body: object }>(route: Route) {
  return { ...route, body: { ...route.body, optional: true as const } };
}

async function startWitness(settings = {}) {
  const bodies: EndpointRequest['body'][] = [];
  const running = await start({
    descriptor: ROUTES,
    settings,
    handle: (request) => {
      bodies.push(request.body);
      return ok();
    },
  });
  return { ...running, bodies };
}

/** Returns a request whose body is Latin-1: one character is one byte. */
function post(path: string, type: string | undefined, body: string, headers = ''): string {
  const typed = type === undefined ? '' : `content-type: ${type}\r\n`;
  return `POST ${path} HTTP/1.1\r\nhost: t\r\n${typed}${headers}content-length: ${body.length}\r\n\r\n${body}`;
}

function bare(path: string): string {
  return `POST ${path} HTTP/1.1\r\nhost: t\r\n\r\n`;
}

/** Headers of a request whose caller waits for `100 Continue`. */
function expecting(path: string, length: number): string {
  return `POST ${path} HTTP/1.1\r\nhost: t\r\ncontent-type: text/plain\r\nexpect: 100-continue\r\ncontent-length: ${length}\r\n\r\n`;
}

function chunked(path: string, type: string, ...chunks: string[]): string {
  const framed = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');
  return `POST ${path} HTTP/1.1\r\nhost: t\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n${framed}0\r\n\r\n`;
}

describe('media types', () => {
  test.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/vnd.example+json',
    'application/json; profile=x',
  ])('a JSON route takes %s', async (type) => {
    const { port, bodies } = await startWitness();
    expect((await ask(port, post('/json', type, '{"a":1}'))).status).toBe(200);
    expect(bodies).toEqual([{ kind: 'json', text: '{"a":1}' }]);
  });

  test.each([
    'text/plain',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'application/x-www-form-urlencoded',
    'application/jsonx',
    'text/json',
    'multipart/form-data; boundary=application/json',
    '',
    undefined,
  ])('a JSON route does not take %s: 415 with what it takes', async (type) => {
    const { port, bodies } = await startWitness();
    const answer = await ask(port, post('/json', type, '{"a":1}'));
    expect(answer.status).toBe(415);
    expect(answer.headers['accept']).toBe('application/json');
    expect(JSON.parse(answer.body)).toEqual({
      status: 415,
      error: 'This route takes a body of type application/json in UTF-8.',
    });
    expect(bodies).toEqual([]);
  });

  test('a text route takes text', async () => {
    const { port, bodies } = await startWitness();
    expect((await ask(port, post('/text', 'text/plain', 'gr\u00c3\u00bcn'))).status).toBe(200);
    expect((await ask(port, post('/text', 'text/html', 'x'))).headers['accept']).toBe('text/plain');
    expect(bodies).toEqual([{ kind: 'text', text: 'grün' }]);
  });

  test.each(['application/octet-stream', 'image/png', 'application/json', undefined])(
    'a bytes route takes %s as it is',
    async (type) => {
      const { port, bodies } = await startWitness();
      expect((await ask(port, post('/bytes', type, '\u0000\u00ff'))).status).toBe(200);
      expect(bodies).toMatchObject([{ kind: 'bytes' }]);
      expect([...(bodies[0] as { bytes: Uint8Array }).bytes]).toEqual([0, 255]);
    },
  );

  test('a compressed body is 415 where it would have to be read', async () => {
    const { port, bodies } = await startWitness();
    const gzip = 'content-encoding: gzip\r\n';
    const answer = await ask(port, post('/json', 'application/json', '{}', gzip));
    expect([answer.status, answer.headers['accept-encoding']]).toEqual([415, 'identity']);
    expect((await ask(port, post('/bytes', 'image/png', 'xx', gzip))).status).toBe(200);
    expect(bodies).toHaveLength(1);
  });

  test('after 415 the connection goes on with the next request', async () => {
    const { port } = await startWitness();
    const client = new RawClient(port).send(post('/json', 'text/plain', get('/none')));
    expect((await client.answer()).status).toBe(415);
    expect((await client.send(get('/none')).answer()).status).toBe(200);
    client.socket.end();
    expect(await client.rest()).toBe('');
  });
});

describe('decoding', () => {
  test.each(['\u00ff', 'a\u00c3', '\u00c0\u00af', '\u00ed\u00a0\u0080'])(
    'a body that is not UTF-8 is 400 (%j)',
    async (body) => {
      const { port, bodies } = await startWitness();
      for (const [path, type] of [
        ['/json', 'application/json'],
        ['/text', 'text/plain'],
      ] as const) {
        const answer = await ask(port, post(path, type, body));
        expect(answer.status).toBe(400);
        expect(JSON.parse(answer.body)).toEqual({ status: 400, error: 'The body is not UTF-8.' });
      }
      expect(bodies).toEqual([]);
    },
  );

  test('a character may be cut by a chunk', async () => {
    const { port, bodies } = await startWitness();
    await ask(port, chunked('/text', 'text/plain', '\u00e2', '\u0082', '\u00ac'));
    expect(bodies).toEqual([{ kind: 'text', text: '€' }]);
  });

  test('no body is 400 for JSON, and empty for text and bytes', async () => {
    const { port, bodies } = await startWitness();
    expect((await ask(port, bare('/json'))).status).toBe(400);
    expect((await ask(port, post('/json', 'application/json', ''))).status).toBe(400);
    expect((await ask(port, chunked('/json', 'application/json'))).status).toBe(400);
    expect((await ask(port, bare('/text'))).status).toBe(200);
    expect((await ask(port, bare('/bytes'))).status).toBe(200);
    expect(bodies).toEqual([
      { kind: 'text', text: '' },
      { kind: 'bytes', bytes: new Uint8Array() },
    ]);
  });

  test('no body is none where the route can do without', async () => {
    const { port, bodies } = await startWitness();
    for (const request of [
      bare('/optional/json'),
      post('/optional/json', 'application/json', ''),
      chunked('/optional/json', 'application/json'),
      bare('/optional/text'),
      bare('/optional/bytes'),
    ])
      expect((await ask(port, request)).status).toBe(200);
    expect(bodies).toEqual(Array.from({ length: 5 }, () => ({ kind: 'none' })));
  });

  test('a body where the route can do without is read as any other', async () => {
    const { port, bodies } = await startWitness();
    expect((await ask(port, post('/optional/json', 'application/json', '{}'))).status).toBe(200);
    expect((await ask(port, post('/optional/json', 'text/plain', '{}'))).status).toBe(415);
    expect((await ask(port, post('/optional/text', 'text/plain', '\u00ff'))).status).toBe(400);
    expect(bodies).toEqual([{ kind: 'json', text: '{}' }]);
  });

  test('a route that takes no body ignores one, whatever its type', async () => {
    const { port, bodies } = await startWitness();
    const client = new RawClient(port);
    expect((await client.send(post('/none', 'image/png', 'xyz')).answer()).status).toBe(200);
    expect((await client.send(chunked('/none', 'x', 'abc', 'def')).answer()).status).toBe(200);
    const withBody = 'GET /none HTTP/1.1\r\nhost: t\r\ncontent-length: 3\r\n\r\nabc';
    expect((await client.send(withBody).answer()).status).toBe(200);
    expect(bodies).toEqual([{ kind: 'none' }, { kind: 'none' }, { kind: 'none' }]);
  });
});

describe('size', () => {
  const LIMIT = { bodyBytesMax: 1000, lingerTimeoutMs: 60_000 };

  test('a body of the limit is read, by length and in chunks', async () => {
    const { port, bodies } = await startWitness(LIMIT);
    const body = 'x'.repeat(1000);
    expect((await ask(port, post('/text', 'text/plain', body))).status).toBe(200);
    const halves = [body.slice(500), body.slice(500)];
    expect((await ask(port, chunked('/text', 'text/plain', ...halves))).status).toBe(200);
    expect(bodies).toEqual([
      { kind: 'text', text: body },
      { kind: 'text', text: body },
    ]);
  });

  test('the limit is 1 MiB when nothing else is set', async () => {
    const { port, bodies } = await startWitness();
    const body = 'x'.repeat(1024 * 1024);
    expect((await ask(port, post('/text', 'text/plain', body))).status).toBe(200);
    expect((await ask(port, post('/text', 'text/plain', `${body}x`))).status).toBe(413);
    expect(bodies).toHaveLength(1);
  });

  test.each(['/text', '/bytes', '/none'])(
    'a longer body for %s is 413, told before it has arrived',
    async (path) => {
      const { port, bodies } = await startWitness(LIMIT);
      const client = new RawClient(port).send(
        `POST ${path} HTTP/1.1\r\nhost: t\r\ncontent-type: text/plain\r\ncontent-length: 1001\r\n\r\n`,
      );
      const answer = await client.answer();
      expect(answer.status).toBe(413);
      expect(answer.headers['connection']).toBe('close');
      expect(JSON.parse(answer.body)).toEqual({
        status: 413,
        error: 'The body is larger than 1000 bytes, which is the limit.',
      });
      client.send('x'.repeat(1001));
      expect(await client.rest()).toBe('');
      expect(bodies).toEqual([]);
    },
  );

  test.each(['/text', '/none'])(
    'chunks beyond the limit for %s are 413, and the connection closes',
    async (path) => {
      const { port, bodies } = await startWitness(LIMIT);
      const client = new RawClient(port).send(
        chunked(path, 'text/plain', 'x'.repeat(999), 'yy') + get('/none'),
      );
      const answer = await client.answer();
      expect([answer.status, answer.headers['connection']]).toEqual([413, 'close']);
      expect(await client.rest()).toBe('');
      expect(bodies).toEqual([]);
    },
  );

  test.each([
    ['413', 'POST /text', ''],
    ['415', 'POST /json', 'expect: 100-continue\r\n'],
  ])('a caller that sends all before it reads still gets the %s', async (status, line, expects) => {
    const { port } = await startWitness({
      bodyBytesMax: status === '415' ? 64 * 1024 * 1024 : 1000,
      lingerTimeoutMs: 60_000,
    });
    const client = new RawClient(port);
    client.socket.pause();
    const length = 32 * 1024 * 1024;
    client.send(
      `${line} HTTP/1.1\r\nhost: t\r\ncontent-type: text/plain\r\n${expects}content-length: ${length}\r\n\r\n`,
    );
    await new Promise<void>((resolve, reject) => {
      client.socket.write('x'.repeat(length), (error) => (error ? reject(error) : resolve()));
    });
    client.socket.resume();
    expect(String((await client.answer()).status)).toBe(status);
    expect(await client.rest()).toBe('');
  });

  test('a caller that sends without end gets an answer, and is cut after the linger time', async () => {
    const { port } = await startWitness({ bodyBytesMax: 1000, lingerTimeoutMs: 50 });
    const client = new RawClient(port).send(
      'POST /text HTTP/1.1\r\nhost: t\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n',
    );
    const chunk = `400\r\n${'x'.repeat(1024)}\r\n`;
    const sending = setInterval(() => client.socket.writable && client.send(chunk), 1);
    expect((await client.answer()).status).toBe(413);
    await client.closed();
    clearInterval(sending);
  });

  test.each([
    ['404', 'POST /nowhere', 'text/plain'],
    ['405', 'PUT /text', 'text/plain'],
    ['415', 'POST /text', 'image/png'],
  ])('a refusal with %s does not wait for a body in chunks', async (status, line, type) => {
    const { port } = await startWitness(LIMIT);
    const client = new RawClient(port).send(
      `${line} HTTP/1.1\r\nhost: t\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n`,
    );
    const answer = await client.answer();
    expect([String(answer.status), answer.headers['connection']]).toEqual([status, 'close']);
    client.send('0\r\n\r\n');
    await client.closed();
  });
});

describe('Expect: 100-continue', () => {
  test('a body that is wanted is asked for', async () => {
    const { port, bodies } = await startWitness();
    const client = new RawClient(port).send(expecting('/text', 3));
    expect((await client.answer()).status).toBe(100);
    expect((await client.send('abc').answer()).status).toBe(200);
    expect(bodies).toEqual([{ kind: 'text', text: 'abc' }]);
  });

  test.each([
    ['/nowhere', 3, 404],
    ['/json', 3, 415],
    ['/text', 2 * 1024 * 1024, 413],
  ])('a body that is not wanted is not asked for (%s)', async (path, length, status) => {
    const { port } = await startWitness({ lingerTimeoutMs: 60_000 });
    const client = new RawClient(port).send(expecting(path, length));
    const answer = await client.answer();
    expect([answer.status, answer.headers['connection']]).toEqual([status, 'close']);
    client.socket.end();
    expect(await client.rest()).toBe('');
  });

  test('another expectation is ignored', async () => {
    const { port } = await startWitness();
    expect((await ask(port, get('/none', 'expect: a-miracle\r\n'))).status).toBe(200);
  });
});

test('a caller that goes in the middle of its body runs no handler', async () => {
  const { port, bodies, lines } = await startWitness();
  const client = new RawClient(port).send(
    'POST /text HTTP/1.1\r\nhost: t\r\ncontent-type: text/plain\r\ncontent-length: 10\r\n\r\nabc',
  );
  client.socket.destroySoon();
  await client.closed();
  expect((await ask(port, get('/none'))).status).toBe(200);
  expect(bodies).toEqual([{ kind: 'none' }]);
  expect(lines).toEqual([]);
});

test('PATCH takes a body as POST does', async () => {
  const { url, bodies } = await startWitness();
  const response = await fetch(`${url}/json`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: '[]',
  });
  expect(response.status).toBe(200);
  expect(bodies).toEqual([{ kind: 'json', text: '[]' }]);
});
