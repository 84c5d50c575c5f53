// The combination of the operator's settings and the module's declarations: the headers of preflights and responses.
import { describe, expect, test } from 'vitest';
import type { AccessRule, CorsDescriptor, RouteDescriptor } from '@svc/contract';
import { Cors } from '../../../host/http/cors.ts';
import {
  checkCorsSettings,
  CORS_SETTINGS_DEFAULT,
  type CorsSettings,
} from '../../../host/http/cors-settings.ts';
import { RouteTable } from '../../../host/http/route-table.ts';
import { SvcError } from '../../../kit/svc-error.ts';
import { descriptorOf, fieldsOf } from './http-harness.ts';

const SHOP = 'https://shop.example.com';
const ANSWER = { status: 200, headers: [['content-type', 'text/plain']] as const, body: 'ok' };

interface Case {
  readonly settings?: Partial<CorsSettings>;
  readonly cors?: CorsDescriptor;
  readonly access?: AccessRule;
  readonly method?: RouteDescriptor['method'];
}

function corsOf({ settings, cors, access, method = 'PUT' }: Case): Cors | undefined {
  const more = { ...(cors === undefined ? {} : { cors }), ...(access && { access }) };
  const operator = { ...CORS_SETTINGS_DEFAULT, origins: [SHOP], ...settings };
  checkCorsSettings(operator);
  return Cors.of(operator, new RouteTable(descriptorOf([[method, '/a', more]])));
}

type Headers = Readonly<Record<string, string>>;

function answered(one: Case, origin?: string): Headers {
  const { headers } = corsOf(one)!.answerOf(
    ANSWER,
    fieldsOf(origin === undefined ? {} : { origin }),
    0,
  );
  const { 'content-type': type, ...added } = Object.fromEntries(headers);
  expect(type).toBe('text/plain');
  return added;
}

function preflight(one: Case, origin = SHOP, method = 'PUT'): Headers {
  const headers = fieldsOf({ origin, 'access-control-request-method': method });
  return Object.fromEntries(corsOf(one)?.preflightHeaders(headers, ['a']) ?? []);
}

const VARY_ALL = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers';

describe('an answer', () => {
  test('repeats an origin that both sides allow, and nothing else of the request', () => {
    expect(answered({ cors: {} }, SHOP)).toEqual({
      'access-control-allow-origin': SHOP,
      'access-control-expose-headers': 'retry-after',
      vary: 'Origin',
    });
  });

  test.each([
    undefined,
    'null',
    'https://evil.example.com',
    'http://shop.example.com',
    'https://shop.example.com:8443',
    'https://shop.example.com.evil.test',
    'https://evil.test/https://shop.example.com',
    `${SHOP}, ${SHOP}`,
    'HTTPS://SHOP.EXAMPLE.COM',
    '*',
    '',
  ])('to the origin %j says only that it depends on the origin', (origin) => {
    expect(answered({ cors: {} }, origin)).toEqual({ vary: 'Origin' });
  });

  test('of an open route is the same for every origin, and says nothing of Vary', () => {
    const open = { settings: { origins: ['*'] }, cors: {} };
    const headers = {
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'retry-after',
    };
    for (const origin of [undefined, 'null', SHOP]) expect(answered(open, origin)).toEqual(headers);
  });

  test('names what pages may read of it, as far as both sides say', () => {
    const settings = { exposedHeaders: ['ETag', 'Location', 'retry-after'] };
    const all = answered({ settings, cors: {} }, SHOP);
    expect(all['access-control-expose-headers']).toBe('etag, location, retry-after');
    const cors = { exposedHeaders: ['location', 'x-secret'] };
    const fewer = answered({ settings, cors }, SHOP);
    expect(fewer['access-control-expose-headers']).toBe('location');
    const none = answered({ settings, cors: { exposedHeaders: [] } }, SHOP);
    expect(none).not.toHaveProperty('access-control-expose-headers');
  });
});

describe('credentials', () => {
  test.each([
    [false, undefined, undefined],
    [false, true, undefined],
    [true, undefined, 'true'],
    [true, true, 'true'],
    [true, false, undefined],
  ])('the operator says %s, the module %s: %s', (operator, module, expected) => {
    const settings = { credentials: operator };
    const cors = module === undefined ? {} : { credentials: module };
    const name = 'access-control-allow-credentials';
    expect(answered({ settings, cors }, SHOP)[name]).toBe(expected);
    expect(preflight({ settings, cors })[name]).toBe(expected);
    expect(answered({ settings, cors }, 'null')).toEqual({ vary: 'Origin' });
  });
});

describe('origins', () => {
  const settings = { origins: ['https://*.example.com', 'http://localhost:5173'] };
  const allows = (origin: string, one: Case = { settings, cors: {} }) =>
    answered(one, origin)['access-control-allow-origin'] === origin;

  test.each(['https://a.example.com', 'https://a-1.example.com', 'http://localhost:5173'])(
    'of a wildcard are names one label below: %s',
    (origin) => expect(allows(origin)).toBe(true),
  );

  test.each([
    'https://example.com',
    'https://.example.com',
    'https://a.b.example.com',
    'https://aexample.com',
    'https://a.example.com.evil.test',
    'https://evil.test/.example.com',
    'https://evil.test#.example.com',
    'https://user@x.example.com',
    'https://*.example.com',
    'http://a.example.com',
    'https://a.example.com:8443',
    'http://localhost:5174',
    `https://${'a'.repeat(64)}.example.com`,
  ])('of a wildcard are not: %s', (origin) => expect(allows(origin)).toBe(false));

  test('are those of the module where it names some, and never more than the operator allows', () => {
    const cors = {
      origins: ['https://a.example.com', 'https://evil.test', 'http://*.example.com'],
    };
    expect(allows('https://a.example.com', { settings, cors })).toBe(true);
    for (const origin of ['https://b.example.com', 'https://evil.test', 'http://a.example.com'])
      expect(allows(origin, { settings, cors })).toBe(false);
    const open = { settings: { origins: ['*'] }, cors: { origins: [SHOP] } };
    expect(answered(open, SHOP)).toMatchObject({
      'access-control-allow-origin': SHOP,
      vary: 'Origin',
    });
    for (const origin of ['null', 'https://evil.test'])
      expect(answered(open, origin)).toEqual({ vary: 'Origin' });
  });

  test('of the operator are the same in capitals', () => {
    const one = { settings: { origins: ['HTTPS://Shop.Example.COM'] }, cors: {} };
    expect(allows(SHOP, one)).toBe(true);
  });
});

describe('a preflight', () => {
  test('of a route learns what it may send', () => {
    expect(preflight({ cors: {} })).toEqual({
      'access-control-allow-origin': SHOP,
      'access-control-allow-methods': 'PUT',
      'access-control-allow-headers': 'content-type, idempotency-key',
      'access-control-max-age': '600',
      vary: VARY_ALL,
    });
  });

  test('gets the headers of both sides', () => {
    const settings = { headers: ['Authorization', 'x-tenant'], maxAgeSeconds: 0 };
    const cors = { headers: ['x-tenant', 'x-admin'] };
    expect(preflight({ settings, cors })).toMatchObject({
      'access-control-allow-headers': 'x-tenant',
      'access-control-max-age': '0',
    });
    const none = preflight({ settings, cors: { headers: [] } });
    expect(none).not.toHaveProperty('access-control-allow-headers');
  });

  test('of GET and of HEAD is the same', () => {
    const one = { cors: {}, method: 'GET' } as const;
    for (const method of ['GET', 'HEAD'])
      expect(preflight(one, SHOP, method)['access-control-allow-methods']).toBe('GET, HEAD');
  });

  test('of another origin learns only that the answer depends on it', () => {
    expect(preflight({ cors: {} }, 'https://evil.test')).toEqual({ vary: VARY_ALL });
  });

  test.each(['POST', 'put', 'CONNECT', 'x'.repeat(10_000), ''])(
    'of a method that the path has not is told nothing: %j',
    (method) => expect(preflight({ cors: {} }, SHOP, method)).toEqual({}),
  );

  test('is one only with both headers', () => {
    const cors = corsOf({ cors: {} })!;
    expect(cors.preflightHeaders(fieldsOf({ origin: SHOP }), ['a'])).toEqual([]);
    expect(
      cors.preflightHeaders(fieldsOf({ 'access-control-request-method': 'PUT' }), ['a']),
    ).toEqual([]);
  });
});

describe('nothing depends on CORS', () => {
  test.each<[string, Case]>([
    ['without origins of the operator', { settings: { origins: [] }, cors: {} }],
    ['without a declaration of the module', {}],
    ['where the operator leaves the method out', { settings: { methods: ['GET'] }, cors: {} }],
  ])('%s', (_when, one) => {
    expect(corsOf(one)).toBeUndefined();
  });

  test.each<AccessRule>([
    { allow: 'local' },
    { allow: 'services' },
    { allow: 'services', services: ['shop'] },
    { allow: 'nobody' },
  ])('where the rule is $allow', (access) => {
    expect(corsOf({ cors: {}, access })).toBeUndefined();
    // The route is beside one with CORS, and has the same path.
    const routes = new RouteTable(
      descriptorOf([
        ['GET', '/a', { cors: {} }],
        ['PUT', '/a', { cors: {}, access }],
      ]),
    );
    const cors = Cors.of({ ...CORS_SETTINGS_DEFAULT, origins: ['*'] }, routes)!;
    const asked = fieldsOf({ origin: SHOP, 'access-control-request-method': 'PUT' });
    expect(cors.preflightHeaders(asked, ['a'])).toEqual([]);
    expect(cors.answerOf(ANSWER, fieldsOf({ origin: SHOP }), 1)).toBe(ANSWER);
    expect(cors.answerOf(ANSWER, fieldsOf({ origin: SHOP }), -1)).toBe(ANSWER);
  });
});

describe('the settings of the operator', () => {
  test.each<[Partial<CorsSettings>, RegExp]>([
    [{ origins: ['https://shop.example.com/'] }, /origins: '.*' is .*: write https:\/\/shop\.ex/],
    [{ origins: ['null'] }, /svc\.http\.cors\.origins: 'null' is not an origin/],
    [{ origins: ['*', SHOP] }, /'\*' allows every origin/],
    [{ origins: ['*'], credentials: true }, /svc\.http\.cors\.credentials: it cannot be 'true'/],
    [{ methods: ['GET', 'TRACE'] }, /svc\.http\.cors\.methods: 'TRACE' is none of GET, POST/],
    [{ headers: ['*'] }, /svc\.http\.cors\.headers: '\*' is not the name of a header/],
    [{ headers: ['x\r\ny: z'] }, /svc\.http\.cors\.headers: /],
    [{ exposedHeaders: ['a b'] }, /svc\.http\.cors\.exposed-headers: 'a b' is not the name/],
  ])('cannot be %j', (settings, message) => {
    const check = () => checkCorsSettings({ ...CORS_SETTINGS_DEFAULT, ...settings });
    expect(check).toThrow(SvcError);
    expect(check).toThrow(message);
  });

  test('can be in capitals or small letters', () => {
    const settings = { methods: ['put'], headers: ['X-Tenant'] };
    expect(preflight({ settings, cors: {} })).toMatchObject({
      'access-control-allow-methods': 'PUT',
      'access-control-allow-headers': 'x-tenant',
    });
  });
});
