// Checks before routes: which requests they admit, how they end a request, and that a faulty check admits nobody.
import { Type } from 'typebox';
import { describe, expect, expectTypeOf, test } from 'vitest';
import type { HostCalls } from '../../model/guest.ts';
import type { Body, EndpointRequest, EndpointResponse, UnreadBody } from '../../model/endpoint.ts';
import { createEmbeddedGuest } from '../../components/embedded-guest.ts';
import { defineEndpoint } from '../../components/endpoint-definition.ts';
import { limited } from '../../components/rate-limit.ts';
import { Ok, refuse } from '../../components/result.ts';
import { respond, respondError } from '../../components/route-answer.ts';
import { before, type RouteDefinition } from '../../components/route-definition.ts';
import { WITHOUT_TIMERS } from '../support/without-timers.ts';

const context = { nowMs: 5, seed: 7n, metadata: [] } as const;
const calls: HostCalls = {
  nowMs: () => 6,
  call: () => ({ kind: 'reply', json: 'null' }),
  ...WITHOUT_TIMERS,
  readEvents: () => [],
};

const handled = async (route: RouteDefinition, other: Partial<EndpointRequest> = {}) => {
  const endpoint = defineEndpoint({ prefix: '/e', access: 'local', routes: { only: route } });
  const request = {
    route: 0,
    parameters: ['acme'],
    query: '',
    headers: [['authorization', 'Bearer ann']],
    caller: 'local',
    body: { kind: 'none' },
    ...other,
  } as const;
  return createEmbeddedGuest({ endpoints: [endpoint] }).endpoints.handle(context, request, calls);
};

const loggedIn = before(async ({ header }) => {
  const name = header('authorization')?.slice('Bearer '.length);
  if (name === undefined)
    return respondError(401, 'log in', { headers: { 'www-authenticate': 'Bearer' } });
  return { name };
});
const member = loggedIn.before(({ parameter }, { given: { name } }) =>
  parameter('organization') === 'acme'
    ? { name, role: 'owner' as const }
    : refuse('there is no such organization', 'NOT_FOUND'),
);

const role = member.get('/{organization}', { reply: 'text' }, (_request, { given }) => {
  expectTypeOf(given).toEqualTypeOf<{ name: string; role: 'owner' }>();
  return `${given.name} is ${given.role}`;
});
const limitedMember = member.before(
  limited({ perMinute: 600, by: (_request, { given }) => given.name }),
);

describe('a check', () => {
  test('before a limit gives the handler behind it what it has answered', async () => {
    const route = limitedMember.get('/{organization}', { reply: 'text' }, (_request, { given }) => {
      expectTypeOf(given).toEqualTypeOf<{ name: string; role: 'owner' }>();
      return given.name;
    });
    expect(await handled(route)).toMatchObject({ body: { text: 'ann' } });
  });

  test('gives the handler what it has answered, and the check behind it as well', async () => {
    expect(await handled(role)).toMatchObject({ body: { text: 'ann is owner' } });
  });

  test('ends the request with an error of its own status and headers', async () => {
    expect(await handled(role, { headers: [] })).toEqual({
      kind: 'response',
      status: 401,
      headers: [['www-authenticate', 'Bearer']],
      body: { kind: 'json', text: '{"status":401,"error":"log in"}' },
    });
  });

  test('ends it with a refusal before anything of the request is decoded', async () => {
    const change = member.put('/{organization}', { body: Type.Integer() }, () => {});
    const other = { parameters: ['other'], body: { kind: 'json', text: 'no JSON' } } as const;
    expect(await handled(change, other)).toMatchObject({ kind: 'refusal', code: 'NOT_FOUND' });
    const own = { ...other, parameters: ['acme'] };
    expect(await handled(change, own)).toMatchObject({ kind: 'refusal', code: 'BAD_REQUEST' });
  });

  test('ends it before its body is read, and lets it be read afterwards', async () => {
    const read: string[] = [];
    const body = (path: string, whole: Body | EndpointResponse): UnreadBody => ({
      kind: 'unread',
      read: async () => {
        read.push(path);
        return whole;
      },
    });
    const limit = limitedMember.before((_, { given }) => given);
    const change = limit.put('/{organization}', { body: 'text', reply: 'text' }, (it) => it.body);
    const text = { kind: 'text', text: 'new' } as const;
    const sent = (path: string, whole: Body | EndpointResponse = text) =>
      handled(change, { parameters: [path], body: body(path, whole) });
    expect(await sent('other')).toMatchObject({ kind: 'refusal', code: 'NOT_FOUND' });
    expect(read).toEqual([]);
    expect(await sent('acme')).toMatchObject({ status: 200, body: text });
    expect(read).toEqual(['acme']);
    const tooLarge = {
      kind: 'response',
      status: 413,
      headers: [],
      body: { kind: 'none' },
    } as const;
    expect(await sent('acme', tooLarge)).toBe(tooLarge);
  });

  test('leads elsewhere', async () => {
    const away = before(() => respond(null, { status: 303, headers: { location: '/login' } }));
    expect(await handled(away.get('', { reply: 'text' }, () => 'in'))).toEqual({
      kind: 'response',
      status: 303,
      headers: [['location', '/login']],
      body: { kind: 'none' },
    });
  });

  test('that asks an entity lets through the value of its answer', async () => {
    const route = before(() => new Ok({ total: 3 })).get('', { reply: 'text' }, (_request, it) => {
      expectTypeOf(it.given).toEqualTypeOf<{ total: number }>();
      return String(it.given.total);
    });
    expect(await handled(route)).toMatchObject({ body: { text: '3' } });
  });

  test.each<readonly [string, () => unknown, string]>([
    ['answers nothing', () => {}, 'a check answered nothing'],
    ['answers a value as a response', () => respond({ name: 'ann' }), 'a check answers no value'],
    ['throws', () => Promise.reject(new Error('no keys')), 'no keys'],
  ])('that %s lets nobody through', async (_what, check, message) => {
    let isHandled = false;
    const route = before(check).get('', {}, () => {
      isHandled = true;
    });
    await expect(handled(route)).rejects.toMatchObject({
      guestMessage: expect.stringContaining(message),
    });
    expect(isHandled).toBe(false);
  });

  test('that asks for a parameter which the route does not have lets nobody through', async () => {
    const route = member.get('/{name}', {}, () => {});
    await expect(handled(route)).rejects.toMatchObject({
      guestMessage: expect.stringContaining(
        "the route GET /{name} has no parameter 'organization'",
      ),
    });
  });
});

const busy = () =>
  respondError(503, 'no keys', { headers: [['retry-after', '5']], details: { tried: 2 } });

test('a handler answers an error with status, headers and details', async () => {
  const route = loggedIn.post('/{organization}', { reply: Type.Integer() }, busy);
  expect(await handled(route)).toEqual({
    kind: 'response',
    status: 503,
    headers: [['retry-after', '5']],
    body: { kind: 'json', text: '{"status":503,"error":"no keys","details":{"tried":2}}' },
  });
  expect(() => respondError(302, 'elsewhere')).toThrow('one of 400 to 599, found 302');
});
