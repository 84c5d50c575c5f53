import { describe, expect, test } from 'vitest';
import type { HeaderList } from '../../../model/endpoint.ts';
import { ask, descriptorOf, get, ok, start } from './http-harness.ts';

async function seenFrom(headers: string): Promise<HeaderList> {
  let seen: HeaderList = [];
  const { port } = await start({
    descriptor: descriptorOf([['GET', '/a']]),
    handle: (request) => {
      seen = request.headers;
      return ok();
    },
  });
  expect((await ask(port, get('/a', headers))).status).toBe(200);
  return seen;
}

const HOST = ['host', 'test'] as const;

describe('the headers that a handler sees', () => {
  test('have names in lower case and values as they came', async () => {
    expect(await seenFrom('X-Own:  Some Value \r\nACCEPT: */*\r\n')).toEqual([
      HOST,
      ['x-own', 'Some Value'],
      ['accept', '*/*'],
    ]);
  });

  test('keep repeated ones, in their order', async () => {
    const cookies = 'Cookie: a=1\r\nx-a: 1\r\ncookie: b=2\r\nX-A: 2\r\n';
    expect(await seenFrom(cookies)).toEqual([
      HOST,
      ['cookie', 'a=1'],
      ['x-a', '1'],
      ['cookie', 'b=2'],
      ['x-a', '2'],
    ]);
  });

  test('have one character for each byte beyond ASCII', async () => {
    expect(await seenFrom('x-a: caf\u00c3\u00a9\r\n')).toEqual([HOST, ['x-a', 'caf\u00c3\u00a9']]);
  });

  test('are without those of the connection, and those that it names as its own', async () => {
    const headers =
      'Connection: keep-alive, X-Mine\r\nKeep-Alive: timeout=5\r\nTE: trailers\r\nTrailer: x\r\n' +
      'Upgrade: h2c\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: Basic x\r\nx-mine: 1\r\nx-b: 2\r\n';
    expect(await seenFrom(headers)).toEqual([HOST, ['x-b', '2']]);
  });

  test('are without what only the platform may say', async () => {
    const headers = 'X-Svc-Caller: service a/b\r\nx-svc-answered-by: proxy\r\nx-svcs: 1\r\n';
    expect(await seenFrom(headers)).toEqual([HOST, ['x-svcs', '1']]);
  });

  test('may be called like members of an object', async () => {
    expect(await seenFrom('__proto__: 1\r\nconstructor: 2\r\n')).toEqual([
      HOST,
      ['__proto__', '1'],
      ['constructor', '2'],
    ]);
  });
});

describe('limits on headers', () => {
  test('more headers than the limit are 431, none is dropped in silence', async () => {
    const { port } = await start({ descriptor: descriptorOf([['GET', '/a']]) });
    expect((await ask(port, get('/a', 'x: 1\r\n'.repeat(99)))).status).toBe(200);
    const answer = await ask(port, get('/a', 'x: 1\r\n'.repeat(100)));
    expect(answer.status).toBe(431);
    expect(JSON.parse(answer.body)).toEqual({
      status: 431,
      error: 'The request has more than 100 headers.',
    });
  });

  test('a Host behind very many headers is still counted', async () => {
    const { port } = await start({
      descriptor: descriptorOf([['GET', '/a']]),
      settings: { headersMax: 10_000, headerBytesMax: 100_000 },
    });
    const many = 'x: 1\r\n'.repeat(3000);
    expect((await ask(port, get('/a', many))).status).toBe(200);
    expect((await ask(port, get('/a', `${many}host: u\r\n`))).status).toBe(400);
  });

  test.each([
    ['headers', get('/a', `x: ${'y'.repeat(20_000)}\r\n`)],
    ['an address', get(`/${'a'.repeat(20_000)}`)],
  ])('%s beyond 16 KiB are 431', async (_what, text) => {
    const { port } = await start({ descriptor: descriptorOf([['GET', '/a']]) });
    const answer = await ask(port, text);
    expect(answer.status).toBe(431);
    expect(JSON.parse(answer.body)).toEqual({
      status: 431,
      error: 'The request line and the headers are longer than 16384 bytes.',
    });
  });
});

test('a request to upgrade is served as the request it is', async () => {
  const { port } = await start({ descriptor: descriptorOf([['GET', '/a']]) });
  const answer = await ask(port, get('/a', 'connection: upgrade\r\nupgrade: websocket\r\n'));
  expect([answer.status, answer.body]).toEqual([200, 'ok']);
});
