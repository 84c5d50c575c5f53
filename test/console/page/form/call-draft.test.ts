// CallDraft: the initial request to a route, the request that is sent, and its command line.
import { execFileSync } from 'node:child_process';
import type { ServiceRoute } from '@svc/contract';
import { describe, expect, test } from 'vitest';
import {
  callProblems,
  callRequest,
  emptyCall,
  exampleCall,
  inMode,
  queryDefaults,
  withIdempotencyKey,
} from '../../../../console/page/form/call-draft.ts';
import { curlLine } from '../../../../console/page/form/call-text.ts';
import { ROUTES, TYPES } from '../../fake/description.ts';

const route = (method: string, path: string): ServiceRoute =>
  ROUTES.find((one) => one.method === method && one.path === path)!;
const ADD_ITEM = route('POST', '/carts/{cartId}/items');
const ITEM = { $ref: '#/types/Item' } as const;

const typedText = (text: string) => ({ kind: 'text' as const, text });

describe('the request of a form', () => {
  test.each(ROUTES.map((one) => [`${one.method} ${one.path}`, one] as const))(
    '%s begins with nothing that would be sent unseen',
    (_, one) => {
      const call = emptyCall(one, TYPES);
      const problems = callProblems(call, one, TYPES);
      expect(problems.every(({ isBlank }) => isBlank)).toBe(true);
      for (const { name } of call.parameters)
        expect(problems.map(({ part, path }) => `${part} ${path}`)).toContain(`path ${name}`);
    },
  );

  test('whose fields are all optional changes nothing until one is included', () => {
    const change: ServiceRoute = {
      ...ADD_ITEM,
      method: 'PATCH',
      parameters: [],
      body: {
        kind: 'json',
        schema: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
          },
          required: [],
        },
      },
    };
    const call = emptyCall(change, TYPES);
    expect(callRequest(call, change).body).toBe('{}');
    expect(callProblems(call, change, TYPES)).toEqual([]);
  });

  test('as an example finds its route', () => {
    const parameters = [
      { name: 'cartId', schema: { type: 'string' } as const },
      { name: 'at', schema: { type: 'integer', minimum: 5, maximum: 9 } as const },
      { name: 'colour', schema: { type: 'string', enum: ['red', 'blue'] } as const },
    ];
    const one: ServiceRoute = {
      ...route('GET', '/carts/{cartId}'),
      path: '/{cartId}/{at}/{colour}',
      parameters,
    };
    expect(callRequest(exampleCall(one, TYPES), one).path).toBe('/cartId/5/red');
  });

  test('has its parameters in the path, whatever they hold', () => {
    const call = emptyCall(ADD_ITEM, TYPES);
    const typed = {
      ...call,
      parameters: [{ name: 'cartId', value: { kind: 'text' as const, text: 'a/b?c#ä$&' } }],
      query: '?x=1 ü#',
    };
    expect(callRequest(typed, ADD_ITEM).path).toBe(
      '/carts/a%2Fb%3Fc%23%C3%A4%24%26/items?x=1%20%C3%BC%23',
    );
  });

  test('has its declared query parameters, with what is optional left out at first', () => {
    const search: ServiceRoute = {
      ...route('GET', '/carts/{cartId}'),
      query: [
        { name: 'text', schema: { type: 'string' }, required: true },
        { name: 'on sale', schema: { type: 'boolean' }, required: false },
        { name: 'tag', schema: { type: 'array', items: { type: 'string' } }, required: false },
        {
          name: 'since',
          schema: { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] },
          required: false,
        },
      ],
    };
    const call = emptyCall(search, TYPES);
    const pathOf = (one: typeof call) => callRequest(one, search).path;
    expect(pathOf(call)).toMatch(/\?text=$/);
    expect(pathOf(exampleCall(search, TYPES))).toMatch(/\?text=text$/);
    if (call.declaredQuery?.kind !== 'record') throw new Error('no form of the query');
    const values = [
      typedText('a&b=c ü'),
      { kind: 'flag' as const, on: true },
      { kind: 'list' as const, items: [typedText('x'), typedText('y')] },
      typedText('no date'),
    ];
    const typed = {
      ...call,
      query: 'z=1',
      declaredQuery: {
        ...call.declaredQuery,
        fields: call.declaredQuery.fields.map(({ name }, at) => ({
          name,
          isLeftOut: false,
          value: values[at]!,
        })),
      },
    };
    expect(pathOf(typed)).toMatch(
      /\?text=a%26b%3Dc%20%C3%BC&on%20sale=true&tag=x&tag=y&since=no%20date&z=1$/,
    );
    expect(callProblems(typed, search, TYPES).filter(({ part }) => part === 'query')).toEqual([
      expect.objectContaining({ part: 'query', path: 'since' }),
    ]);
  });

  test('has the defaults of its query parameters as texts, and sends none of them', () => {
    const defaults = [20, true, 'Newest', '', ' a', [1, 2], ['a', ''], [], '9007199254740993'];
    const search: ServiceRoute = {
      ...route('GET', '/carts/{cartId}'),
      query: [...defaults, undefined].map((value, at) => ({
        name: `q${at}`,
        schema: { type: 'string' },
        required: false,
        ...(value === undefined ? {} : { default: value }),
      })),
    };
    expect([...queryDefaults(search)]).toEqual([
      ['q0', '20'],
      ['q1', 'true'],
      ['q2', 'Newest'],
      ['q3', '""'],
      ['q4', '" a"'],
      ['q5', '1, 2'],
      ['q6', 'a, ""'],
      ['q7', 'no items'],
      ['q8', '9007199254740993'],
    ]);
    expect(callRequest(emptyCall(search, TYPES), search).path).not.toContain('?');
    expect(queryDefaults(route('GET', '/carts/{cartId}')).size).toBe(0);
  });

  test('says what kind its body is, unless that is typed', () => {
    const call = emptyCall(ADD_ITEM, TYPES);
    expect(callRequest(call, ADD_ITEM).headers).toEqual([['content-type', 'application/json']]);
    const typed = { ...call, headers: [['Content-Type', 'text/plain'] as const] };
    expect(callRequest(typed, ADD_ITEM).headers).toEqual([['Content-Type', 'text/plain']]);
  });

  test('has the caller that is typed, where the route asks for a token', () => {
    const asking: ServiceRoute = { ...route('GET', '/carts/{cartId}'), bearer: true };
    const call = emptyCall(asking, TYPES);
    expect(callRequest(call, asking)).not.toHaveProperty('sendAs');
    const typed = { ...call, sendAs: { subject: 'ada b', roles: ' admin  clerk', scopes: '' } };
    expect(callRequest(typed, asking).sendAs).toEqual({
      subject: 'ada b',
      roles: ['admin', 'clerk'],
      scopes: [],
    });
    const open = route('GET', '/carts/{cartId}');
    expect(callRequest(typed, open)).not.toHaveProperty('sendAs');
  });

  test('without a body has none', () => {
    const get = route('GET', '/carts/{cartId}');
    expect(callRequest(emptyCall(get, TYPES), get)).toMatchObject({ body: null, headers: [] });
  });

  test('has one idempotency key, the newest', () => {
    const call = withIdempotencyKey(withIdempotencyKey(emptyCall(ADD_ITEM, TYPES), 'a'), 'b');
    expect(call.headers).toEqual([['idempotency-key', 'b']]);
  });

  test('an empty parameter and an odd header are named', () => {
    const call = {
      ...emptyCall(ADD_ITEM, TYPES),
      parameters: [{ name: 'cartId', value: { kind: 'text' as const, text: '' } }],
      headers: [['a b', ''] as const],
    };
    const typed = callProblems(call, ADD_ITEM, TYPES).filter(({ part }) => part !== 'body');
    expect(typed).toEqual([
      { part: 'path', path: 'cartId', message: 'must not be empty', isBlank: true },
      { part: 'header', path: 'a b', message: 'is not a valid header name' },
    ]);
  });
});

describe('form and JSON are kept in step', () => {
  test('there and back', () => {
    const call = emptyCall(ADD_ITEM, TYPES);
    const json = inMode(call, 'json', ITEM, TYPES)!;
    expect(inMode(json, 'form', ITEM, TYPES)).toEqual(call);
    const typed = { ...json, text: json.text.replace('"quantity": null', '"quantity": 7') };
    const form = inMode(typed, 'form', ITEM, TYPES)!;
    expect(callRequest(form, ADD_ITEM).body).toBe(
      '{"sku":"","quantity":7,"price":null,"note":null}',
    );
  });

  test('JSON that does not fit stays JSON, and is sent as it is', () => {
    const call = { ...emptyCall(ADD_ITEM, TYPES), mode: 'json' as const, text: '{"sku": 1}' };
    expect(inMode(call, 'form', ITEM, TYPES)).toBeUndefined();
    expect(callRequest(call, ADD_ITEM).body).toBe('{"sku": 1}');
    expect(callProblems(call, ADD_ITEM, TYPES)[1]).toEqual({
      part: 'body',
      path: 'sku',
      message: 'must be a text, not 1',
    });
  });

  test('what is no JSON says where', () => {
    const call = { ...emptyCall(ADD_ITEM, TYPES), mode: 'json' as const, text: '{\n "a": }' };
    expect(callProblems(call, ADD_ITEM, TYPES).slice(1)).toEqual([
      { part: 'body', path: '', message: 'line 2, column 7: a value is expected' },
    ]);
  });
});

describe('as a line for a shell', () => {
  test.each([`it's`, '$(id) `id` "x"', '@/etc/passwd', 'a\nb'])('%j stays what it is', (text) => {
    const request = {
      method: 'POST',
      path: '/a',
      headers: [['x', text]] as const,
      body: text,
      bodyIsBase64: false,
    };
    const line = curlLine('http://127.0.0.1:9000', request).replace(/^curl/, 'printf "%s\\0"');
    const words = execFileSync('sh', ['-c', line], { encoding: 'utf8' }).split('\0');
    expect(words.slice(0, -1)).toEqual([
      '-X',
      'POST',
      '-H',
      `x: ${text}`,
      '--data-raw',
      text,
      'http://127.0.0.1:9000/a',
    ]);
  });

  test('an address is no pattern of addresses', () => {
    const request = {
      method: 'GET',
      path: '/a?b[]=1',
      headers: [],
      body: null,
      bodyIsBase64: false,
    };
    expect(curlLine('http://h', request)).toBe("curl --globoff 'http://h/a?b[]=1'");
  });

  test('a caller becomes a token when the line runs', () => {
    const request = {
      method: 'GET',
      path: '/a',
      headers: [],
      body: null,
      bodyIsBase64: false,
      sendAs: { subject: `it's $(id)`, roles: ['admin'], scopes: ['a:b'] },
    };
    const line = curlLine('http://h', request).replace(/^curl/, 'printf "%s\\0"');
    const script = `svc() { printf '[%s]' "$@"; }\n${line}`;
    const words = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0');
    expect(words.slice(0, -1)).toEqual([
      '-H',
      `Authorization: Bearer [token][--subject=it's $(id)][--role=admin][--scope=a:b]`,
      'http://h/a',
    ]);
  });

  test('bytes are decoded on their way', () => {
    const request = { method: 'PUT', path: '/a', headers: [], body: 'AQID', bodyIsBase64: true };
    expect(curlLine('http://h', request)).toBe(
      'printf %s AQID | base64 -d | curl -X PUT --data-binary @- http://h/a',
    );
  });
});
