// RouteDifference: it finds every change that a caller would notice, and no other.
import { expect, test } from 'vitest';
import type {
  EndpointDescriptor,
  LimitRule,
  ModuleDescriptor,
  RouteDescriptor,
} from '@svc/contract';
import { descriptorDifferences } from '../../../host/history/descriptor-difference.ts';
import { describing } from '../../support/open-api-document.ts';

type Change = Partial<RouteDescriptor>;
const INT = { type: 'integer', minimum: 0, maximum: 255 } as const;
const BYTE = { type: 'integer', minimum: -128, maximum: 127 } as const;
const TEXT = { type: 'string' } as const;
const json = (schema: typeof INT | typeof BYTE | typeof TEXT) => ({
  kind: 'json' as const,
  schema,
});
const query = (name: string, schema: object, required = false): Change => ({
  query: [{ name, schema: schema as typeof TEXT, required }],
});

function module(change: Change, endpoint: Partial<EndpointDescriptor> = {}): ModuleDescriptor {
  const path = change.path ?? '/{id}';
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const route: RouteDescriptor = {
    method: 'PUT',
    path,
    handler: 'put',
    parameters: names.map((name) => ({ name, schema: TEXT })),
    ...change,
  };
  const carts = { name: 'Carts', prefix: '/carts', access: { allow: 'internet' as const } };
  return describing({ endpoints: [{ ...carts, routes: [route], ...endpoint }] });
}

const limit = (
  count: number,
  per: LimitRule['per'] = 'minute',
  by: LimitRule['by'] = 'address',
) => ({
  count,
  per,
  by,
});
const limits = (...rules: LimitRule[]): Change => ({ limits: rules });

const anyOf = (...names: string[]) => ({ match: 'any' as const, names });

const found = (before: ModuleDescriptor, now: ModuleDescriptor) =>
  descriptorDifferences(before, now, new Set()).map(({ name, message }) => `${name}: ${message}`);

test.each<readonly [string, Change, Change, string]>([
  ['that is gone', {}, { path: '/{id}/items/{at}', handler: 'other' }, 'route-removed: … is gone'],
  [
    'whose path is another',
    {},
    { path: '/{id}/all' },
    'route-removed: … is gone; perhaps it is PUT /carts/{id}/all now',
  ],
  [
    'whose method is another',
    {},
    { method: 'PATCH' },
    'route-removed: … is gone; perhaps it is PATCH /carts/{id} now',
  ],
  [
    'whose path is taken by another handler',
    {},
    { method: 'PATCH', handler: 'change' },
    'route-removed: … is gone; its path takes PATCH',
  ],
  [
    'with a new required query parameter',
    {},
    query('page', INT, true),
    "route-input-narrowed: … takes less than it did: query parameter 'page' is new and may not be missing",
  ],
  [
    'with a query parameter that became required',
    query('page', INT),
    query('page', INT, true),
    "route-input-narrowed: … takes less than it did: query parameter 'page' may not be missing any more",
  ],
  [
    'with a narrower query parameter',
    query('page', TEXT),
    query('page', INT),
    "route-input-narrowed: … takes less than it did: query parameter 'page': text became an integer from 0 to 255",
  ],
  [
    'with a query parameter that may be given once only',
    query('page', { type: 'array', items: INT }),
    query('page', INT),
    "route-input-narrowed: … takes less than it did: query parameter 'page': a list became an integer from 0 to 255",
  ],
  [
    'with a narrower path parameter',
    {},
    { parameters: [{ name: 'id', schema: INT }] },
    "route-input-narrowed: … takes less than it did: path parameter 'id': text became an integer from 0 to 255",
  ],
  [
    'with a new body',
    {},
    { body: json(INT) },
    'route-input-narrowed: … takes less than it did: it needs a body',
  ],
  [
    'with a body that became required',
    { body: { ...json(INT), optional: true } },
    { body: json(INT) },
    'route-input-narrowed: … takes less than it did: the body may not be missing any more',
  ],
  [
    'with a narrower body',
    { body: json(INT) },
    { body: json(BYTE) },
    'route-input-narrowed: … takes less than it did: the body: an integer from 0 to 255 became an integer from -128 to 127',
  ],
  [
    'with a body of another kind',
    { body: { kind: 'text' } },
    { body: json(TEXT) },
    'route-input-narrowed: … takes less than it did: the body was text and is json',
  ],
  [
    'with stricter access',
    {},
    { access: { allow: 'local' } },
    "route-access-narrowed: … admits fewer callers: it was 'internet', and is 'local'",
  ],
  [
    'with fewer services',
    { access: { allow: 'services', services: ['shop', 'till'] } },
    { access: { allow: 'services', services: ['shop'] } },
    "route-access-narrowed: … admits fewer callers: it was 'services' (shop, till), and is 'services' (shop)",
  ],
  [
    'whose list of services is new',
    { access: { allow: 'services' } },
    { access: { allow: 'services', services: ['shop'] } },
    "route-access-narrowed: … admits fewer callers: it was 'services', and is 'services' (shop)",
  ],
  [
    'with a limit',
    {},
    limits(limit(60)),
    'route-access-narrowed: … lets fewer requests through: it had no limit, and has 60/minute by address',
  ],
  [
    'with a stricter limit',
    limits(limit(60)),
    limits(limit(59)),
    'route-access-narrowed: … lets fewer requests through: it had 60/minute by address, and has 59/minute by address',
  ],
  [
    'with a limit of a longer time',
    limits(limit(60)),
    limits(limit(60, 'hour')),
    'route-access-narrowed: … lets fewer requests through: it had 60/minute by address, and has 60/hour by address',
  ],
  [
    'with a limit that lets fewer through at once',
    limits(limit(60)),
    limits(limit(1, 'second')),
    'route-access-narrowed: … lets fewer requests through: it had 60/minute by address, and has 1/second by address',
  ],
  [
    'with a limit of all callers',
    limits(limit(60)),
    limits(limit(60), limit(600, 'minute', 'route')),
    'route-access-narrowed: … lets fewer requests through: it had 60/minute by address, and has 60/minute by address and 600/minute by route',
  ],
  [
    'that asks for a token',
    {},
    { bearer: {} },
    'route-access-narrowed: … admits fewer callers: it asked for no token, and asks for a token',
  ],
  [
    'that asks for a role',
    { bearer: {} },
    { bearer: { roles: anyOf('admin') } },
    'route-access-narrowed: … admits fewer callers: it asked for a token, and asks for a token with the role admin',
  ],
  [
    'that asks for all scopes',
    { bearer: { scopes: anyOf('read', 'write') } },
    { bearer: { scopes: { match: 'all', names: ['read', 'write'] } } },
    'route-access-narrowed: … admits fewer callers: it asked for a token with one of the scopes read, write, and asks for a token with all of the scopes read, write',
  ],
  [
    'that takes a role no more',
    { bearer: { roles: anyOf('librarian', 'admin') } },
    { bearer: { roles: anyOf('librarian') } },
    'route-access-narrowed: … admits fewer callers: it asked for a token with one of the roles librarian, admin, and asks for a token with the role librarian',
  ],
  [
    'without its CORS',
    { cors: {} },
    {},
    'route-access-narrowed: … may not be called by pages of other origins any more',
  ],
  [
    'that answers nothing',
    { reply: json(INT) },
    {},
    'route-answer-changed: … answers otherwise: it answered json, and answers nothing',
  ],
  [
    'that answers another status',
    { reply: json(INT), answers: [201] },
    { reply: json(INT) },
    'route-answer-changed: … answers otherwise: 201 when it is done no more, but 200',
  ],
])('a route %s is told', (_what, before, now, told) => {
  expect(found(module(before), module(now))).toEqual([told.replace('…', 'route PUT /carts/{id}')]);
});

test.each<readonly [string, Change, Change]>([
  ['the name of a path parameter', {}, { path: '/{cart}' }],
  ['a handler, a summary', {}, { handler: 'replace', summary: 'Replaces' }],
  ['a new optional query parameter', {}, query('page', INT)],
  ['a query parameter that is read no more', query('page', INT, true), {}],
  ['a wider query parameter', query('page', INT, true), query('page', TEXT)],
  [
    'a query parameter that may be given often now',
    query('page', INT),
    query('page', { type: 'array', items: INT }),
  ],
  [
    // What a handler does without the parameter is its own decision, as everything else that it computes.
    'another default of a query parameter',
    { query: [{ name: 'page', schema: INT, required: false, default: 1 }] },
    { query: [{ name: 'page', schema: INT, required: false, default: 2 }] },
  ],
  [
    'a query parameter that is null when it is left out',
    query('page', { anyOf: [TEXT, { type: 'null' }] }),
    query('page', TEXT),
  ],
  ['a body that is read no more', { body: json(INT) }, {}],
  ['a body that may be missing', { body: json(INT) }, { body: { ...json(INT), optional: true } }],
  ['a body of bytes', { body: json(INT) }, { body: { kind: 'bytes' } }],
  ['no limit any more', limits(limit(60)), {}],
  ['a looser limit', limits(limit(60)), limits(limit(61))],
  ['one limit less', limits(limit(60), limit(1, 'second')), limits(limit(60))],
  [
    'a limit that another one implies',
    limits(limit(60)),
    limits(limit(60), limit(1_000, 'second')),
  ],
  ['no token any more', { bearer: {} }, {}],
  ['no role any more', { bearer: { roles: anyOf('admin') } }, { bearer: {} }],
  [
    'one more role that is enough',
    { bearer: { roles: { match: 'all', names: ['librarian', 'admin'] } } },
    { bearer: { roles: anyOf('librarian', 'guest') } },
  ],
  ['more access', { access: { allow: 'services' } }, {}],
  [
    'local callers, who are admitted anyway',
    { access: { allow: 'local' } },
    { access: { allow: 'nobody' } },
  ],
  ['one more status', { reply: json(INT) }, { reply: json(INT), answers: [200, 201, 404] }],
])('%s is no difference', (_what, before, now) => {
  expect(found(module(before), module(now))).toEqual([]);
});

test('services of the own project lose nothing when the list goes, those of another do', () => {
  const own = { access: { allow: 'services' as const, services: ['shop'] } };
  const others = { access: { allow: 'services' as const, services: ['shop.other'] } };
  const all = { access: { allow: 'services' as const } };
  expect(found(module(own), module(all))).toEqual([]);
  expect(found(module(others), module(all))).toHaveLength(1);
});
