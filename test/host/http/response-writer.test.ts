import { describe, expect, test } from 'vitest';
import type { Refusal } from '../../../model/call.ts';
import type { Body, EndpointResponse, HeaderList } from '../../../model/endpoint.ts';
import { ask, descriptorOf, get, ok, RawClient, start } from './http-harness.ts';

const descriptor = descriptorOf([['GET', '/a']]);

async function answerOf(response: Partial<EndpointResponse>, method = 'GET') {
  const running = await start({ descriptor, handle: () => ({ ...ok(''), ...response }) });
  const text = `${method} /a HTTP/1.1\r\nhost: t\r\n\r\n`;
  return { ...(await ask(running.port, text, method !== 'HEAD')), lines: running.lines };
}

describe('bodies', () => {
  test.each<[Body, string, string]>([
    [{ kind: 'json', text: '{"a":"ü"}' }, 'application/json', '10'],
    [{ kind: 'text', text: 'grün' }, 'text/plain; charset=utf-8', '5'],
    [{ kind: 'bytes', bytes: Uint8Array.of(0, 255, 10) }, 'application/octet-stream', '3'],
  ])('%j has its type and its length in bytes', async (body, type, length) => {
    const answer = await answerOf({ body });
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({ 'content-type': type, 'content-length': length });
  });

  test('bytes arrive as they are', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    const answer = await answerOf({ body: { kind: 'bytes', bytes } });
    expect(Buffer.from(answer.body, 'latin1')).toEqual(Buffer.from(bytes));
  });

  test("the endpoint's content-type goes before the one of the body's kind", async () => {
    const answer = await answerOf({ headers: [['Content-Type', 'text/html']] });
    expect(answer.headers['content-type']).toBe('text/html');
  });

  test('no body has the length 0 and no type', async () => {
    const answer = await answerOf({ body: { kind: 'none' } });
    expect(answer.headers['content-length']).toBe('0');
    expect(answer.headers).not.toHaveProperty('content-type');
  });

  test.each([204, 304])('%i has no content even when there is a body', async (status) => {
    const { port } = await start({ descriptor, handle: () => ok('smuggled', [], status) });
    const client = new RawClient(port);
    for (let round = 0; round < 2; round++) {
      const answer = await client.send(get('/a')).answer();
      expect(answer.status).toBe(status);
      expect(answer.headers).not.toHaveProperty('content-length');
      expect(answer.headers).not.toHaveProperty('transfer-encoding');
    }
    client.socket.end();
    expect(await client.rest()).toBe('');
  });

  test('205 has the length 0 and no type even when there is a body', async () => {
    const answer = await answerOf({ status: 205, body: { kind: 'text', text: 'smuggled' } });
    expect(answer.status).toBe(205);
    expect(answer.headers['content-length']).toBe('0');
    expect(answer.headers).not.toHaveProperty('content-type');
    expect(answer.body).toBe('');
  });

  test('HEAD has the length that GET would have', async () => {
    const answer = await answerOf({ body: { kind: 'text', text: 'grün' } }, 'HEAD');
    expect(answer.headers['content-length']).toBe('5');
  });
});

const limited = (response: EndpointResponse | Refusal) =>
  start({ descriptor, settings: { responseBytesMax: 10 }, handle: () => response });
const refusal = (message: string, details?: string): Refusal => ({
  kind: 'refusal',
  code: 'CONFLICT',
  message,
  ...(details === undefined ? {} : { details }),
});

describe('a body that is longer than the limit', () => {
  test.each<[string, EndpointResponse | Refusal, EndpointResponse | Refusal]>([
    ['of text, in bytes', ok('grün 6789'), ok('grün 67890')],
    [
      'of bytes',
      { ...ok(), body: { kind: 'bytes', bytes: new Uint8Array(10) } },
      { ...ok(), body: { kind: 'bytes', bytes: new Uint8Array(11) } },
    ],
    ['of a refusal', refusal('grün 6789'), refusal('grün 67890')],
    ['of a refusal with its details', refusal('12345', '[678]'), refusal('12345', '[6789]')],
  ])('is a fault: %s', async (_what, fits, isTooLong) => {
    const good = await limited(fits);
    expect((await ask(good.port, get('/a'))).status).toBe(fits.kind === 'refusal' ? 409 : 200);
    const bad = await limited(isTooLong);
    expect((await ask(bad.port, get('/a'))).status).toBe(500);
    expect(bad.lines).toMatchObject([{ fields: { code: 'limit', limit: 'response-bytes' } }]);
  });
});

const detailed = (bytes: number) => {
  const details = `"${'x'.repeat(bytes - 2)}"`;
  return start({ descriptor, handle: () => refusal('no', details) });
};

test('details of 64 KiB at most are parsed, whatever else a refusal may hold', async () => {
  const good = await detailed(64 * 1024);
  expect((await ask(good.port, get('/a'))).status).toBe(409);
  const bad = await detailed(64 * 1024 + 1);
  expect((await ask(bad.port, get('/a'))).status).toBe(500);
  expect(bad.lines).toMatchObject([{ fields: { code: 'limit', limit: 'response-bytes' } }]);
});

describe('status', () => {
  test.each([200, 299, 418, 503, 599])('%i is passed on', async (status) => {
    expect((await answerOf({ status })).status).toBe(status);
  });

  test.each([0, 100, 101, 199, 600, 999, 65_535, 200.5, Number.NaN])(
    '%d is a fault of the guest',
    async (status) => {
      const answer = await answerOf({ status });
      expect(answer.status).toBe(500);
      expect(answer.lines).toMatchObject([{ level: 'warn', fields: { code: 'value' } }]);
    },
  );
});

describe('headers', () => {
  test('pass on, repeated ones too', async () => {
    const headers: HeaderList = [
      ['Set-Cookie', 'a=1'],
      ['set-cookie', 'b=2'],
      ['ETag', '"x"'],
      ['x-empty', ''],
      ['x-latin', 'caf\u00e9'],
    ];
    expect((await answerOf({ headers })).headers).toMatchObject({
      'set-cookie': 'a=1, b=2',
      etag: '"x"',
      'x-empty': '',
      'x-latin': 'caf\u00e9',
    });
  });

  test.each([
    ['x-a', 'b\r\nset-cookie: evil=1'],
    ['x-a', 'b\r\n\r\n<script>'],
    ['x-a', 'b\nc'],
    ['x-a', 'b\rc'],
    ['x-a', 'b\0c'],
    ['x-a', 'b\u007fc'],
    ['x-a', 'b\u009b2Jc'],
    ['x-a', ' b'],
    ['x-a', 'b\t'],
    ['x-a', '\u010d\u010a'],
    ['x-a', '\ud83d\ude00'],
    ['x-a: b\r\nx-c', 'd'],
    ['x a', 'b'],
    ['x:a', 'b'],
    ['', 'b'],
    ['x-\u00e9', 'b'],
    ['x\n', 'b'],
  ])(
    'the header %j with the value %j is a fault, and nothing of it is sent',
    async (name, value) => {
      const { port, lines } = await start({ descriptor, handle: () => ok('', [[name, value]]) });
      const client = new RawClient(port);
      const answer = await client.send(get('/a')).answer();
      expect(answer.status).toBe(500);
      expect(Object.keys(answer.headers).toSorted()).toEqual([
        'content-length',
        'content-type',
        'date',
        'keep-alive',
      ]);
      expect(lines).toMatchObject([{ level: 'warn', fields: { code: 'value' } }]);
      client.socket.end();
      expect(await client.rest()).toBe('');
    },
  );

  test('two types are a fault', async () => {
    const type = ['content-type', 'text/html'] as const;
    expect((await answerOf({ headers: [type, type] })).status).toBe(500);
  });

  test.each([
    ['Content-Length', '3'],
    ['Transfer-Encoding', 'chunked'],
    ['Connection', 'close'],
    ['Keep-Alive', 'timeout=1'],
    ['Trailer', 'x'],
    ['Upgrade', 'h2c'],
    ['Proxy-Authenticate', 'Basic'],
    ['Date', 'yesterday'],
    ['X-Svc-Answered-By', 'proxy'],
    ['X-SVC-Anything', '1'],
    ['Access-Control-Allow-Origin', '*'],
    ['access-control-allow-credentials', 'true'],
    ['Access-Control-Allow-Private-Network', 'true'],
  ])('%s of the endpoint is left out', async (name, value) => {
    const { port } = await start({
      descriptor,
      handle: () => ok('hello', [[name, value]]),
    });
    const client = new RawClient(port);
    for (let round = 0; round < 2; round++) {
      const answer = await client.send(get('/a')).answer();
      expect([answer.status, answer.body]).toEqual([200, 'hello']);
      expect(answer.headers[name.toLowerCase()]).not.toBe(value);
    }
  });

  test('more headers than the limit are a fault', async () => {
    const many = Array.from({ length: 101 }, (_, index) => [`x-${index}`, '1'] as const);
    expect((await answerOf({ headers: many.slice(0, 100) })).status).toBe(200);
    const answer = await answerOf({ headers: many });
    expect(answer.status).toBe(500);
    expect(answer.lines).toMatchObject([{ fields: { code: 'limit', limit: 'response-headers' } }]);
  });

  test('longer headers than the limit are a fault', async () => {
    const answer = await answerOf({ headers: [['x', 'y'.repeat(32 * 1024)]] });
    expect(answer.status).toBe(500);
    expect(answer.lines).toMatchObject([{ fields: { code: 'limit', limit: 'response-headers' } }]);
  });
});
