// The responses of an embedded service: the form that its program gives to all of them, and that of every error, whichever layer
// answers. The requests are those that general frameworks get wrong, and raw bytes.
import { connect } from 'node:net';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  before,
  createService,
  defineEndpoint,
  defineEntity,
  del,
  get,
  jsonBytes,
  post,
  put,
  queryFlag,
  refuse,
  respond,
  respondError,
  type Service,
  type ServiceOptions,
} from '../../../host/embed.ts';

const Descriptor = Type.Object(
  { name: Type.String(), port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })) },
  { additionalProperties: false },
);
const counter = defineEntity({
  component: 'counter',
  state: { manifest: 'Counter', schema: Type.Object({ count: Type.Integer() }) },
  event: {
    manifest: 'Counted',
    schema: Type.Union([Type.Object({ type: Type.Literal('counted') })]),
  },
  empty: () => ({ count: 0 }),
  apply: (state) => ({ count: state.count + 1 }),
  commands: {
    refuse: {
      handle: (_state, context) =>
        context.refuse('it is taken', 'CONFLICT', { details: { by: 'ann' } }),
    },
  },
  queries: {},
});
const authenticated = before(
  ({ header }) =>
    header('authorization') === 'Bearer good' ? 'ann' : refuse('log in', 'UNAUTHENTICATED'),
  { security: { scheme: 'bearer' }, refusals: { 401: 'there is no valid token' } },
);
const query = Type.Object(
  { previous: queryFlag(), tail: Type.Optional(Type.Integer({ minimum: 0 })) },
  { additionalProperties: false },
);
const api = defineEndpoint({
  prefix: '/s',
  access: 'internet',
  routes: {
    echo: put('/{name}', { body: Descriptor, reply: Descriptor }, ({ body }) => body),
    raw: put('/{name}/raw', { body: jsonBytes(Descriptor), reply: 'text' }, ({ body }) =>
      JSON.stringify(JSON.parse(Buffer.from(body).toString())),
    ),
    pause: post('/{name}/pause', {}, () => {}),
    remove: del('/m/{subject}', { reply: 'text' }, ({ parameters }) =>
      respond(parameters.subject, { status: 200 }),
    ),
    logs: get('/{name}/logs', { query, reply: 'text' }, (request) => JSON.stringify(request.query)),
    whoami: authenticated.get('/{name}/whoami', { reply: 'text' }, (_request, { given }) => given),
    conflict: post('/{name}/conflict', {}, (_request, { call }) => call(counter, 'a').refuse()),
    unavailable: get('/{name}/unavailable', {}, () =>
      respondError(503, 'no keys', { details: { tried: 1 } }),
    ),
    fault: get('/{name}/fault', {}, () => {
      throw new Error('secret');
    }),
    late: get('/{name}/late', {}, () => new Promise<null>(() => {})),
    cached: get('/{name}/cached', { reply: 'text' }, () =>
      respond('kept', { headers: { 'cache-control': 'max-age=60' } }),
    ),
  },
});

const options = {
  name: 'plain',
  journal: 'memory',
  entities: [counter],
  endpoints: [api],
  http: { port: 0 },
  log: 'none',
  settings: { 'svc.http.answer-timeout-ms': 300 },
  responses: { errors: 'plain', headers: { 'cache-control': 'no-store' } },
} as const satisfies ServiceOptions;
let service: Service;
beforeAll(async () => {
  service = await createService(options);
});
afterAll(() => service.stop(0));

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

async function sent(method: string, path: string, init: RequestInit = {}): Promise<Answered> {
  const response = await fetch(`${service.url}${path}`, { ...init, method });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

/** Sends bytes, and resolves with status, headers and body of the first response, once the connection is closed. */
async function raw(bytes: string): Promise<Answered> {
  const { port } = new URL(service.url!);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = '';
  const socket = connect(Number(port), '127.0.0.1');
  socket.setEncoding('latin1');
  socket.on('data', (part: string) => {
    text += part;
  });
  socket.on('close', () => resolve(text));
  socket.on('error', reject);
  socket.write(Buffer.from(bytes, 'latin1'));
  const [head = '', body = ''] = (await promise).split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = new Headers(
    lines.map((line): [string, string] => [
      line.slice(0, line.indexOf(':')),
      line.slice(line.indexOf(':') + 1),
    ]),
  );
  return { status: Number(first.split(' ')[1]), headers, body };
}

function expectError({ status, headers, body }: Answered, error: unknown): void {
  expect(JSON.parse(body)).toStrictEqual({ status, error });
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('content-type')).toBe('application/json');
}

const JSON_TYPE = { 'content-type': 'application/json' };
const json = (body: string, headers = JSON_TYPE): RequestInit => ({ headers, body });

describe('every error is a status and a reason, and has the headers of all responses', () => {
  test.each<readonly [string, string, string, RequestInit, number, string]>([
    [
      'an unknown field and a wrong type, together',
      'PUT',
      '/s/a',
      json('{"prot":1,"port":"9000"}'),
      400,
      'prot: is not known; name: is missing; port: must be an integer from 1 to 65535, found "9000"',
    ],
    [
      'null where a text belongs',
      'PUT',
      '/s/a',
      json('{"name":null}'),
      400,
      'name: must be a string, found null',
    ],
    [
      '__proto__ in a body',
      'PUT',
      '/s/a',
      json('{"name":"a","__proto__":{"x":1}}'),
      400,
      '__proto__: is not known',
    ],
    ['a missing body', 'PUT', '/s/a', {}, 400, 'The request has no body: this route takes JSON.'],
    ['a path that is no UTF-8', 'DELETE', '/s/m/%zz', {}, 400, expect.any(String) as never],
    [
      'several problems of a query',
      'GET',
      '/s/a/logs?previous=maybe&tail=-1&x=1',
      {},
      400,
      'x: is not known; previous: must be true or false, found "maybe"; ' +
        'tail: must be an integer from 0 to 9007199254740991, found -1',
    ],
    ['no token', 'GET', '/s/a/whoami', {}, 401, 'log in'],
    ['no such path', 'GET', '/nowhere', {}, 404, 'There is no such path.'],
    ['another method', 'PATCH', '/s/m/x', {}, 405, 'This path takes DELETE, OPTIONS.'],
    ['a refusal with details', 'POST', '/s/a/conflict', {}, 409, 'it is taken'],
    [
      'a body of 2 MiB',
      'PUT',
      '/s/a',
      json(`{"name":"${'x'.repeat(2 << 20)}"}`),
      413,
      'The body is larger than 1048576 bytes, which is the limit.',
    ],
    [
      'another media type',
      'PUT',
      '/s/a',
      json('{"name":"a"}', { 'content-type': 'text/plain' }),
      415,
      'This route takes a body of type application/json in UTF-8.',
    ],
    [
      'headers of 20 KiB',
      'GET',
      '/s/a/logs',
      { headers: { 'x-long': 'x'.repeat(20_000) } },
      431,
      'The request line and the headers are longer than 16384 bytes.',
    ],
    ['an error with details', 'GET', '/s/a/unavailable', {}, 503, 'no keys'],
    [
      'a fault, with its id in the reason',
      'GET',
      '/s/a/fault',
      {},
      500,
      expect.stringMatching(
        /^The service failed to handle the request\. Error id: [0-9a-f]{16}\.$/,
      ) as never,
    ],
    [
      'a deadline, with the id of its failure in the reason',
      'GET',
      '/s/a/late',
      {},
      504,
      expect.stringMatching(/Whether it was done is unknown\. Error id: [0-9a-f]{16}\.$/) as never,
    ],
  ])('%s', async (_what, method, path, init, status, error) => {
    const answered = await sent(method, path, init);
    expect(answered.status).toBe(status);
    expectError(answered, error);
  });

  test.each([
    ['no HTTP', 'HELLO\r\n\r\n', 400],
    ['no host', 'GET /s/a HTTP/1.1\r\n\r\n', 400],
    [
      'two lengths',
      'PUT /s/a HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
      400,
    ],
    ['a control character in the path', 'GET /s/\x01 HTTP/1.1\r\nhost: a\r\n\r\n', 400],
    [
      'another transfer coding',
      'PUT /s/a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip\r\n\r\n',
      501,
    ],
    ['another version', 'GET / HTTP/3.0\r\nhost: a\r\n\r\n', 505],
  ])('bytes with %s', async (_what, bytes, status) => {
    const answered = await raw(bytes);
    expect(answered.status).toBe(status);
    expectError(answered, expect.any(String));
  });
});

describe('a response', () => {
  test('has the headers of all responses, unless it has its own', async () => {
    expect((await sent('POST', '/s/a/pause')).headers.get('cache-control')).toBe('no-store');
    expect((await sent('OPTIONS', '/s/a/pause')).headers.get('cache-control')).toBe('no-store');
    expect((await sent('GET', '/s/a/cached')).headers.get('cache-control')).toBe('max-age=60');
  });

  test('with the status 401 has the challenge of the declared scheme', async () => {
    const { headers } = await sent('GET', '/s/a/whoami');
    expect(headers.get('www-authenticate')).toBe('Bearer realm="svc"');
  });

  test('with the status 503 says when to try again', async () => {
    expect((await sent('GET', '/s/a/unavailable')).headers.get('retry-after')).toBe('1');
  });

  test('without a form says all that it can', async () => {
    const { responses: _plain, ...rest } = options;
    await using full = await createService({ ...rest, name: 'full', http: false });
    const conflict = await full.fetch('/s/a/conflict', { method: 'POST' });
    expect(await conflict.json()).toEqual({
      status: 409,
      error: 'it is taken',
      details: { by: 'ann' },
    });
    expect(await (await full.fetch('/s/a/unavailable')).json()).toMatchObject({
      details: { tried: 1 },
    });
    expect(await (await full.fetch('/s/a/fault')).json()).toMatchObject({
      errorId: expect.any(String),
    });
    expect(conflict.headers.get('cache-control')).toBeNull();
  });
});

describe('a request that is right as it is', () => {
  test.each<readonly [string, string, string, RequestInit, number, string]>([
    [
      'an empty body where none is needed, as JSON',
      'POST',
      '/s/a/pause',
      { headers: JSON_TYPE },
      204,
      '',
    ],
    [
      'a form where no body is needed',
      'POST',
      '/s/a/pause',
      json('x', { 'content-type': 'application/x-www-form-urlencoded' }),
      204,
      '',
    ],
    ['DELETE with a media type and no body', 'DELETE', '/s/m/x', { headers: JSON_TYPE }, 200, 'x'],
    ['a subject of 300 characters', 'DELETE', `/s/m/${'x'.repeat(300)}`, {}, 200, 'x'.repeat(300)],
    ['a subject with a slash', 'DELETE', '/s/m/auth0%7Ca%2Fb', {}, 200, 'auth0|a/b'],
    [
      'JSON of a vendor, with a charset',
      'PUT',
      '/s/a',
      json('{"name":"a"}', { 'content-type': 'application/vnd.svc+json; charset=utf-8' }),
      200,
      '{"name":"a"}',
    ],
    [
      'bytes as curl -d sends them',
      'PUT',
      '/s/a/raw',
      json('{"name": "a"}', { 'content-type': 'application/x-www-form-urlencoded' }),
      200,
      '{"name":"a"}',
    ],
    ['a flag by its name', 'GET', '/s/a/logs?previous', {}, 200, '{"previous":true}'],
    ['a query without a flag', 'GET', '/s/a/logs?tail=0', {}, 200, '{"previous":false,"tail":0}'],
  ])('%s', async (_what, method, path, init, status, body) => {
    const answered = await sent(method, path, init);
    expect([answered.status, answered.body]).toEqual([status, body]);
  });
});

test.each([
  ['content-length', '1', 'is set by the runtime'],
  ['Connection', 'close', 'is set by the runtime'],
  ['content-type', 'text/html', 'is set by the runtime'],
  ['access-control-allow-origin', '*', 'is set by the settings of svc.http.cors'],
  ['no name', 'x', 'is no name of a header'],
  ['x', 'a\r\nb: c', 'has a value that HTTP cannot carry'],
])('the header %j of all responses is refused', async (name, value, reason) => {
  const responses = { headers: { [name]: value } };
  await expect(createService({ ...options, responses })).rejects.toMatchObject({
    code: 'SVC_SETTING_INVALID',
    message: `The option responses.headers has '${name}', which ${reason}.`,
  });
});
