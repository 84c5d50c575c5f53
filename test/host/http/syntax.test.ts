// Requests that are refused for their syntax, and what is tolerated.
import { describe, expect, test } from 'vitest';
import { ask, descriptorOf, gate, get, ok, RawClient, start } from './http-harness.ts';

const ONE_ROUTE = descriptorOf([['GET', '/a']]);

describe('what is not HTTP', () => {
  test.each([
    ['no request at all', 'hello\r\n\r\n'],
    ['a line feed alone', 'GET /a HTTP/1.1\nhost: t\n\n'],
    ['an address with a fragment', 'GET /a#b HTTP/1.1\r\nhost: t\r\n\r\n'],
    ['an address beyond ASCII', 'GET /caf\u00e9 HTTP/1.1\r\nhost: t\r\n\r\n'],
    ['an address without a slash', 'GET a HTTP/1.1\r\nhost: t\r\n\r\n'],
    ['an asterisk for another method', 'GET * HTTP/1.1\r\nhost: t\r\n\r\n'],
    ['an unknown scheme', 'GET ftp://t/a HTTP/1.1\r\nhost: t\r\n\r\n'],
    ['a Host that is none', 'GET /a HTTP/1.1\r\nhost: a b\r\n\r\n'],
    ['a broken header', 'GET /a HTTP/1.1\r\nhost: t\r\nno colon\r\n\r\n'],
    ['a folded header', 'GET /a HTTP/1.1\r\nhost: t\r\nx: 1\r\n 2\r\n\r\n'],
    ['a space before the colon', 'GET /a HTTP/1.1\r\nhost: t\r\nx : 1\r\n\r\n'],
    ['a control character in a header', 'GET /a HTTP/1.1\r\nhost: t\r\nx: a\0b\r\n\r\n'],
    ['no Host', 'GET /a HTTP/1.1\r\n\r\n'],
    ['two Hosts', 'GET /a HTTP/1.1\r\nhost: t\r\nhost: u\r\n\r\n'],
    [
      'two lengths',
      'GET /a HTTP/1.1\r\nhost: t\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
    ],
    [
      'a length and chunks',
      'GET /a HTTP/1.1\r\nhost: t\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a negative length', 'GET /a HTTP/1.1\r\nhost: t\r\ncontent-length: -1\r\n\r\n'],
    [
      'a chunk whose size is no number',
      'GET /a HTTP/1.1\r\nhost: t\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n',
    ],
  ])('%s is 400 with a body as of every error, and the connection closes', async (_what, text) => {
    const { port } = await start({ descriptor: ONE_ROUTE });
    const client = new RawClient(port).send(text);
    const answer = await client.answer();
    expect(answer.status).toBe(400);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      connection: 'close',
    });
    expect(JSON.parse(answer.body)).toEqual({ status: 400, error: expect.any(String) });
    expect(await client.rest()).toBe('');
  });

  test.each(['GET /a HTTP/9.9\r\nhost: t\r\n\r\n', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'])(
    'another version is 505, and the connection closes: %j',
    async (text) => {
      const { port } = await start({ descriptor: ONE_ROUTE });
      const client = new RawClient(port).send(text);
      expect(await client.answer()).toMatchObject({
        status: 505,
        headers: { connection: 'close' },
      });
      expect(await client.rest()).toBe('');
    },
  );

  test.each(['http://example.test/a?b', 'HTTPS://example.test:80/a'])(
    'the form of an address that proxies use names the same path: %s',
    async (address) => {
      const { port } = await start({ descriptor: ONE_ROUTE });
      expect((await ask(port, get(address))).status).toBe(200);
    },
  );

  test('a transfer coding other than chunked is 501', async () => {
    const { port } = await start({ descriptor: ONE_ROUTE });
    const client = new RawClient(port).send(
      'GET /a HTTP/1.1\r\nhost: t\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    );
    expect((await client.answer()).status).toBe(501);
    await client.closed();
  });

  test('garbage behind a request that is under way waits for its answer', async () => {
    const handler = gate();
    const begun = gate();
    const { port } = await start({
      descriptor: ONE_ROUTE,
      handle: async () => {
        begun.open();
        await handler.passed;
        return ok('first');
      },
    });
    const client = new RawClient(port).send(`${get('/a')}garbage\r\n\r\n`);
    await begun.passed;
    client.send('more garbage\r\n');
    handler.open();
    expect((await client.answer()).body).toBe('first');
    expect((await client.answer()).status).toBe(400);
    expect(await client.rest()).toBe('');
  });
});
