// Handlers of endpoints: their arguments and their answers. The route is found by its method and template in the
// descriptor, as in the runtime.
import { beforeAll, describe, expect, test } from 'vitest';
import { parseModuleDescriptor, type ModuleDescriptor } from '@svc/contract';
import { compileFixture, compileFixtureCore } from '../support/compile-fixture.ts';
import {
  CoreGuest,
  type CoreRequest,
  type CoreResponse,
  type CoreResult,
} from '../support/core-guest.ts';
import { descriptorText } from '../support/descriptor-text.ts';

let guest: CoreGuest;
let descriptor: ModuleDescriptor;

beforeAll(async () => {
  guest = new CoreGuest(new WebAssembly.Module(await compileFixtureCore('routes')));
  const parsed = parseModuleDescriptor(descriptorText(await compileFixture('routes')));
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  ({ descriptor } = parsed);
});

function handle(route: string, request: Omit<CoreRequest, 'route'> = {}): CoreResult<CoreResponse> {
  const names = descriptor.endpoints.flatMap((endpoint) =>
    endpoint.routes.map((one) => `${one.method} ${endpoint.prefix}${one.path}`),
  );
  const index = names.indexOf(route);
  if (index < 0) throw new Error(`no route ${route}`);
  return guest.handle({ ...request, route: index });
}

function answer(route: string, request: Omit<CoreRequest, 'route'> = {}): CoreResponse {
  const result = handle(route, request);
  if (!('ok' in result)) throw new Error(result.refused.message);
  return result.ok;
}

function refusal(route: string, request: Omit<CoreRequest, 'route'> = {}): string {
  const result = handle(route, request);
  if ('ok' in result) throw new Error('not refused');
  expect(result.refused.code).toBe(0);
  return result.refused.message;
}

const ORDER = { json: '{"sku":"pear","quantity":3}' };

describe('what a handler is given', () => {
  test('path parameters bind by name, in whatever order', () => {
    expect(
      answer('GET /match/{first}/{second}/{third}', { parameters: ['1', '2', '3'] }).body.content,
    ).toBe('{"handler":"three","text":"1,2,3"}');
    expect(answer('PATCH /methods/{id}', { parameters: ['é'], body: ORDER }).body.content).toBe(
      '{"handler":"patch","text":"é pear"}',
    );
  });

  test('path parameters are decoded by their type', () => {
    const parameters = ['true', '-5', '9223372036854775807', '-1.5e3'];
    expect(
      answer('GET /requests/typed/{flag}/{small}/{big}/{real}', { parameters }).body.content,
    ).toBe('{"flag":true,"small":-5,"big":"9223372036854775807","real":-1500}');
  });

  test.each([
    [0, 'yes', "path parameter 'flag': must be true or false"],
    [0, '', "path parameter 'flag': must be true or false"],
    [1, '2.5', "path parameter 'small': must be an integer from -2147483648 to 2147483647"],
    [1, '', "path parameter 'small': must be an integer from -2147483648 to 2147483647"],
    [1, ' 1', "path parameter 'small': must be an integer from -2147483648 to 2147483647"],
    [1, '1\n', "path parameter 'small': must be an integer from -2147483648 to 2147483647"],
    [1, '99999999999', "path parameter 'small': must be an integer from -2147483648 to 2147483647"],
    [2, '9223372036854775808', "path parameter 'big': must be a 64-bit integer"],
    [2, '1"', "path parameter 'big': must be a 64-bit integer"],
    [2, '', "path parameter 'big': must be a 64-bit integer"],
    [3, 'NaN', "path parameter 'real': must be a number"],
    [3, '1e999', "path parameter 'real': must be a number"],
  ])('parameter %i cannot be %j', (index, text, message) => {
    const parameters = ['true', '1', '1', '1'].with(index, text);
    expect(refusal('GET /requests/typed/{flag}/{small}/{big}/{real}', { parameters })).toBe(
      message,
    );
  });

  test('a body is decoded by its type', () => {
    expect(answer('POST /methods/{id}', { parameters: ['1'], body: ORDER }).body.content).toBe(
      '{"handler":"post","text":"1 pear 3 false"}',
    );
    expect(
      answer('POST /bodies/json', { body: { json: `[${ORDER.json},${ORDER.json}]` } }).body.content,
    ).toBe('6');
    expect(answer('POST /bodies/text', { body: { text: 'größe' } }).body).toEqual({
      kind: 'text',
      content: 'größe',
    });
    expect(answer('POST /bodies/text').body).toEqual({ kind: 'text', content: '' });
    const bytes = Uint8Array.of(1, 2, 255, 0);
    expect(answer('POST /bodies/bytes', { body: { bytes } }).body).toEqual({
      kind: 'bytes',
      content: '00ff0201',
    });
    expect(answer('POST /bodies/bytes').body).toEqual({ kind: 'bytes', content: '' });
  });

  test('a body that is nullable may be left out', () => {
    expect(answer('POST /bodies/optional').body.content).toBe('nothing');
    expect(answer('POST /bodies/optional', { body: { json: 'null' } }).body.content).toBe(
      'nothing',
    );
    expect(answer('POST /bodies/optional', { body: ORDER }).body.content).toBe('pear');
  });

  test('a body of the wrong kind, or none, is refused', () => {
    expect(refusal('POST /bodies/json')).toBe('body: is missing');
    expect(refusal('POST /bodies/json', { body: { text: '[]' } })).toBe('body: must be JSON');
    expect(refusal('POST /bodies/json', { body: { json: '[{"sku":"a","quantity":true}]' } })).toBe(
      '[0].quantity: must be an integer from -2147483648 to 2147483647, found true',
    );
    expect(refusal('POST /bodies/bytes', { body: { json: '[]' } })).toBe('body: must be bytes');
    expect(refusal('POST /bodies/text', { body: { bytes: Uint8Array.of(1) } })).toBe(
      'body: must be text',
    );
  });

  test('headers are found in whatever case, the first one counts', () => {
    const headers = [
      ['x-one', '1'],
      ['x-two', 'zwei é'],
      ['x-one', '3'],
    ] as const;
    expect(
      answer('GET /requests/header/{name}', { parameters: ['X-ONE'], headers }).body.content,
    ).toBe('1');
    expect(
      answer('GET /requests/header/{name}', { parameters: ['x-Two'], headers }).body.content,
    ).toBe('zwei é');
    expect(
      handle('GET /requests/header/{name}', { parameters: ['x-three'], headers }),
    ).toMatchObject({
      refused: { code: 3, message: 'there is no header x-three' },
    });
    expect(answer('GET /requests/headers', { headers }).body.content).toBe(
      '["x-one: 1","x-two: zwei é","x-one: 3"]',
    );
  });

  test('the query string is decoded leniently', () => {
    const values = (query: string, name: string): unknown =>
      JSON.parse(answer('GET /requests/query/{name}', { query, parameters: [name] }).body.content);
    expect(values('a=1&b=2&a=3', 'a')).toEqual(['1', '3']);
    expect(values('a=x+y%20z&%61=%C3%A9%F0%9F%98%80', 'a')).toEqual(['x y z', 'é😀']);
    expect(values('a&a=&=5&&a=%&a=%4&a=%zz&a=b=c', 'a')).toEqual(['', '', '%', '%4', '%zz', 'b=c']);
    expect(values('a=%FF%C3', 'a')).toHaveLength(1);
    expect(values('a=%ED%A0%BD', 'a')).toEqual(['�']);
    expect(values('', 'a')).toEqual([]);
    expect(answer('GET /requests/raw-query', { query: 'a=%20&b' }).body.content).toBe('a=%20&b');
  });

  test('caller and metadata', () => {
    expect(answer('GET /requests/caller', { caller: 'service shop/orders' }).body.content).toBe(
      'service shop/orders',
    );
    expect(answer('GET /requests/traceparent').body.content).toBe('none');
  });
});

describe('what a handler answers', () => {
  test.each([
    ['GET /replies/done', 204, { kind: 'none', content: '' }],
    ['GET /replies/text', 200, { kind: 'text', content: 'grüße, 世界' }],
    ['GET /replies/bytes', 200, { kind: 'bytes', content: '0055aaff' }],
    ['GET /replies/number', 200, { kind: 'json', content: '0.1' }],
    ['GET /replies/list', 200, { kind: 'json', content: '["a","b"]' }],
    ['GET /replies/map', 200, { kind: 'json', content: '{"one":1,"two":2}' }],
    ['GET /replies/nothing', 200, { kind: 'json', content: 'null' }],
  ])('%s', (route, status, body) => {
    expect(answer(route)).toEqual({ status, headers: [], body });
  });

  test('a Response has its own status and headers', () => {
    expect(answer('POST /replies/created', { body: ORDER })).toEqual({
      status: 201,
      headers: [
        ['location', '/orders/pear'],
        ['x-once', '1'],
      ],
      body: { kind: 'json', content: '{"sku":"pear","quantity":3,"urgent":false}' },
    });
    expect(answer('GET /replies/moved')).toEqual({
      status: 303,
      headers: [['location', '/replies/text']],
      body: { kind: 'none', content: '' },
    });
    expect(answer('GET /replies/html').headers).toEqual([
      ['content-type', 'text/html; charset=utf-8'],
    ]);
  });

  test('a refusal has its code, message and details', () => {
    for (const code of [0, 1, 2, 3, 4, 5, 6])
      expect(handle('GET /replies/refused/{code}', { parameters: [String(code)] })).toEqual({
        refused: {
          code,
          otherCode: '',
          message: `refused with ${code}`,
          details: `{"code":${code}}`,
        },
      });
    expect(answer('GET /replies/done-or-not/{yes}', { parameters: ['true'] }).status).toBe(204);
    expect(handle('GET /replies/done-or-not/{yes}', { parameters: ['false'] })).toMatchObject({
      refused: { code: 5 },
    });
  });

  test('a status outside of 200 to 599 is a fault of the module', () => {
    for (const status of ['199', '600', '-1', '66000'])
      expect(() => handle('GET /replies/bad-status/{status}', { parameters: [status] })).toThrow(
        WebAssembly.RuntimeError,
      );
  });
});

test('the descriptor says what each route takes, answers and admits', () => {
  const access = descriptor.endpoints.at(-1);
  expect(access?.access).toEqual({ allow: 'services', services: ['orders', 'billing.finance'] });
  expect(access?.routes.map((route) => route.access)).toEqual([
    undefined,
    { allow: 'internet' },
    { allow: 'services' },
    { allow: 'local' },
    { allow: 'nobody' },
  ]);
  const routes = new Map(
    descriptor.endpoints.flatMap((endpoint) =>
      endpoint.routes.map((route) => [`${endpoint.prefix}${route.path}`, route]),
    ),
  );
  expect(routes.get('/replies/done')).not.toHaveProperty('reply');
  expect(routes.get('/replies/moved')).not.toHaveProperty('reply');
  expect(routes.get('/replies/text')?.reply).toEqual({ kind: 'text' });
  expect(routes.get('/replies/bytes')?.reply).toEqual({ kind: 'bytes' });
  expect(routes.get('/bodies/json')?.body).toEqual({
    kind: 'json',
    schema: { type: 'array', items: { $ref: '#/types/Order' } },
  });
  expect(routes.get('/bodies/none')).not.toHaveProperty('body');
  expect(routes.get('/match/{first}/{second}/{third}')?.parameters.map((one) => one.name)).toEqual([
    'first',
    'second',
    'third',
  ]);
});

test('an endpoint that is not registered does not exist', () => {
  expect(descriptor.endpoints.map((endpoint) => endpoint.name)).not.toContain(
    'UnregisteredEndpoint',
  );
  expect(() => guest.handle({ route: 1000 })).toThrow(WebAssembly.RuntimeError);
});
