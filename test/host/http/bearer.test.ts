// Routes with a bearer rule: which outcome opens them, in which order, and which headers their handlers see.
import { connect } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import type { BearerRule } from '@svc/contract';
import { INTERNET } from '../../../host/http/access.ts';
import {
  verified,
  keyOwner,
  permitted,
  principalHeaders,
  type RequestPrincipal,
  type RequestTokens,
} from '../../../host/http/bearer.ts';
import type { EndpointRequest } from '../../../model/endpoint.ts';
import { descriptorOf, fieldsOf, gate, JSON_BODY, ok, start } from './http-harness.ts';

const ADA: RequestPrincipal = {
  subject: 'ada',
  issuer: 'https://id.test',
  roles: ['reader', 'librarian'],
  scopes: ['books:read'],
  text: '{"subject":"ada"}',
};
const known = { kind: 'known', caller: ADA } as const;
/** Verifies tokens by their text. */
const TOKENS: RequestTokens = {
  verify: ([value]) =>
    value === undefined
      ? { kind: 'missing' }
      : value === 'Bearer good'
        ? known
        : { kind: 'refused', error: 'invalid_token', reason: 'It is bad.' },
};
const routes = (bearer: BearerRule, more = {}) =>
  descriptorOf([['POST', '/a', { bearer, ...more }]]);

async function post(url: string, authorization?: string): Promise<number> {
  const answer = await fetch(url, {
    method: 'POST',
    body: 'no JSON',
    headers: { 'content-type': 'text/plain', ...(authorization && { authorization }) },
  });
  return answer.status;
}

describe('a principal is admitted by a rule', () => {
  test.each<readonly [string, BearerRule, number | undefined]>([
    ['without roles and scopes', {}, undefined],
    [
      'one of whose roles it has',
      { roles: { match: 'any', names: ['admin', 'reader'] } },
      undefined,
    ],
    [
      'all of whose roles it has',
      { roles: { match: 'all', names: ['librarian', 'reader'] } },
      undefined,
    ],
    ['none of whose roles it has', { roles: { match: 'any', names: ['admin'] } }, 403],
    ['one of whose roles it lacks', { roles: { match: 'all', names: ['reader', 'admin'] } }, 403],
    ['whose scope it has', { scopes: { match: 'all', names: ['books:read'] } }, undefined],
    ['whose scope it lacks', { scopes: { match: 'any', names: ['books:write'] } }, 403],
    [
      'whose role it has, and whose scope it lacks',
      { roles: { match: 'any', names: ['reader'] }, scopes: { match: 'any', names: ['x'] } },
      403,
    ],
  ])('%s', (_rule, rule, status) => {
    const answer = permitted(known, rule);
    expect('status' in answer ? answer.status : undefined).toBe(status);
  });
});

test('a role that begins like another one is another role', () => {
  const rule: BearerRule = { roles: { match: 'any', names: ['read', 'READER', 'reader2'] } };
  expect(permitted(known, rule)).toMatchObject({ status: 403 });
});

test('without something that verifies tokens every route with a rule is closed', async () => {
  expect(verified(undefined, fieldsOf({ authorization: 'Bearer good' }))).toEqual({
    kind: 'unavailable',
    retryAfterS: 5,
  });
  const { url } = await start({ descriptor: routes({}) });
  const answer = await fetch(`${url}/a`, {
    method: 'POST',
    headers: { authorization: 'Bearer good' },
  });
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
});

test('no header of a request is one of the principal', () => {
  const headers = [
    ['accept', '*/*'],
    ['authorization', 'Bearer good'],
  ] as const;
  expect(principalHeaders(headers, ADA, {})).toEqual([
    ['accept', '*/*'],
    ['x-svc-principal', ADA.text],
  ]);
  expect(principalHeaders(headers, ADA, { forwardsToken: true })).toHaveLength(3);
});

test('the owner of a key is issuer and subject', () => {
  expect(keyOwner(ADA)).not.toBe(keyOwner({ ...ADA, issuer: 'https://other.test' }));
  expect(keyOwner(ADA)).not.toBe(keyOwner({ ...ADA, subject: 'bob' }));
});

describe('a request is verified in this order:', () => {
  const sent: EndpointRequest[] = [];
  const serve = (bearer: BearerRule, more = {}) =>
    start({
      descriptor: routes(bearer, more),
      tokens: TOKENS,
      caller: INTERNET,
      handle: (request) => {
        sent.push(request);
        return ok();
      },
    });

  test('access, token, role, media type', async () => {
    const closed = await serve({}, { access: { allow: 'services' } });
    expect(await post(`${closed.url}/a`, 'Bearer good')).toBe(403);
    const { url } = await serve({ roles: { match: 'any', names: ['reader'] } }, JSON_BODY);
    expect([
      await post(`${url}/b`),
      await post(`${url}/a`),
      await post(`${url}/a`, 'Bearer x'),
    ]).toEqual([404, 401, 401]);
    expect(await post(`${url}/a`, 'Bearer good')).toBe(415);
    const strict = await serve({ roles: { match: 'any', names: ['admin'] } }, JSON_BODY);
    expect(await post(`${strict.url}/a`, 'Bearer good')).toBe(403);
    expect(sent).toEqual([]);
  });
});

test('a request whose caller leaves while its token is verified runs no handler', async () => {
  const asked = gate();
  const verifying = gate();
  let handled = 0;
  const { url, server } = await start({
    descriptor: routes({}),
    tokens: {
      verify: async () => {
        asked.open();
        await verifying.passed;
        return known;
      },
    },
    handle: () => {
      handled += 1;
      return ok();
    },
  });
  const { hostname, port } = new URL(url);
  const leaving = connect(Number(port), hostname);
  leaving.write('POST /a HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0\r\n\r\n');
  await asked.passed;
  // A caller that only ends its side of the connection still receives its answer.
  leaving.resetAndDestroy();
  await vi.waitFor(() => expect(server.inFlight).toBe(0));
  const other = fetch(`${url}/a`, { method: 'POST' });
  verifying.open();
  expect((await other).status).toBe(200);
  expect([handled, server.inFlight]).toEqual([1, 0]);
});
