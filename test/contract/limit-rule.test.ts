// Limits of requests in a descriptor: which descriptors are refused for them, and what an OpenAPI document says of them.
import { expect, test } from 'vitest';
import {
  type EndpointDescriptor,
  type LimitRule,
  type ModuleDescriptor,
  openApi,
  parseModuleDescriptor,
  type RouteDescriptor,
} from '@svc/contract';
import { describing, problemsOf } from '../support/open-api-document.ts';

const limit = (count: number, by: LimitRule['by']): LimitRule => ({ count, per: 'minute', by });

const EMPTY = describing({});

function serving(
  route: Partial<RouteDescriptor>,
  endpoint: Partial<EndpointDescriptor> = {},
): ModuleDescriptor {
  const free = { method: 'GET' as const, path: '/b', handler: 'a', parameters: [] };
  const own = { ...free, path: '/a', ...route };
  const carts = { name: 'Carts', prefix: '/carts', access: { allow: 'internet' as const } };
  return { ...EMPTY, endpoints: [{ ...carts, routes: [own, free], ...endpoint }] };
}

function problems(...given: Parameters<typeof serving>): readonly string[] {
  const result = parseModuleDescriptor(JSON.stringify(serving(...given)));
  return result.ok ? [] : result.problems;
}

test('limits that a descriptor may have', () => {
  expect(problems({ limits: [limit(1, 'route'), limit(1_000_000, 'address')] })).toEqual([]);
  expect(problems({ bearer: {}, limits: [limit(1, 'subject')] })).toEqual([]);
  expect(problems({}, { bearer: {}, limits: [limit(1, 'subject')] })).toEqual([]);
});

test.each<readonly [string, unknown]>([
  ['none in the list', []],
  ['too many', [1, 2, 3, 4, 5].map((count) => limit(count, 'route'))],
  ['none of a number', [limit(0, 'route')]],
  ['a part', [limit(1.5, 'route')]],
  ['more than are counted', [limit(1_000_001, 'route')]],
  ['an unknown unit', [{ ...limit(1, 'route'), per: 'week' }]],
  ['a name of JavaScript as the unit', [{ ...limit(1, 'route'), per: 'constructor' }]],
  ['an unknown key', [{ ...limit(1, 'route'), by: 'tenant' }]],
  ['an unknown member', [{ ...limit(1, 'route'), burst: 5 }]],
])('limits are refused by the schema: %s', (_what, limits) => {
  const found = problems({ limits: limits as LimitRule[] });
  expect(found).toHaveLength(1);
  expect(found[0]).toContain('/limits');
});

test('a limit by subject needs a bearer rule, and no limit stands twice', () => {
  expect(problems({ limits: [limit(5, 'subject')] })).toEqual([
    'route GET /carts/a: the limit 5/minute by subject needs a bearer rule, which says who calls',
  ]);
  expect(problems({ bearer: {} }, { limits: [limit(5, 'subject')] })).toEqual([
    'route GET /carts/b: the limit 5/minute by subject needs a bearer rule, which says who calls',
  ]);
  expect(problems({}, { limits: [limit(5, 'route'), limit(5, 'route')] })).toEqual([
    "endpoint 'Carts': the limit 5/minute by route is twice",
  ]);
});

test('an operation has the answer 429 with its headers, and its limits', () => {
  const limits = [limit(5, 'address')];
  const document = openApi(serving({ limits }), { title: 'cart', version: '1' });
  expect(problemsOf(document)).toEqual([]);
  expect(document['paths']).toMatchObject({
    '/carts/a': {
      get: {
        'x-svc-limits': limits,
        responses: { 429: { $ref: '#/components/responses/Status429' } },
      },
    },
  });
  expect(document).not.toHaveProperty(['paths', '/carts/b', 'get', 'x-svc-limits']);
  expect(document).not.toHaveProperty(['paths', '/carts/b', 'get', 'responses', '429']);
  const headers = ['Retry-After', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
  for (const header of headers)
    expect(document).toHaveProperty(['components', 'responses', 'Status429', 'headers', header]);
  const unlimited = openApi(serving({}), { title: 'cart', version: '1' });
  expect(JSON.stringify(unlimited)).not.toContain('Status429');
});
