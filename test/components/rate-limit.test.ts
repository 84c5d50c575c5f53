// A limit of requests: whose requests it counts, what it answers, and that each service counts for itself.
import { describe, expect, expectTypeOf, test } from 'vitest';
import type { HostCalls } from '../../model/guest.ts';
import { createEmbeddedGuest } from '../../components/embedded-guest.ts';
import { defineEndpoint } from '../../components/endpoint-definition.ts';
import { limited } from '../../components/rate-limit.ts';
import { before, get } from '../../components/route-definition.ts';
import type { HeaderList } from '../../model/endpoint.ts';
import { WITHOUT_TIMERS } from '../support/without-timers.ts';

const bySubject = before(({ header }) => ({ subject: header('x-subject') ?? '' }));
const fast = bySubject.before(
  limited({
    perMinute: 2,
    by: (_request, { given }) => {
      expectTypeOf(given).toEqualTypeOf<{ subject: string }>();
      return given.subject === 'admin' ? undefined : given.subject;
    },
  }),
);
const endpoint = defineEndpoint({
  prefix: '/e',
  access: 'local',
  routes: {
    one: fast.get('/1', { reply: 'text' }, (_request, { given }) => given.subject),
    two: fast.get('/2', { reply: 'text' }, (_request, { given }) => given.subject),
    alone: before(limited({ perMinute: 1, by: () => '' })).get('/3', { reply: 'text' }, () => 'in'),
    free: get('/4', {}, () => {}),
  },
});

/** Starts a service, and returns a function that sends it requests at a time. */
function started() {
  const { endpoints } = createEmbeddedGuest({ endpoints: [endpoint] });
  return async (route: number, subject: string, nowMs = 0) => {
    const calls: HostCalls = {
      nowMs: () => nowMs,
      call: () => ({ kind: 'reply', json: 'null' }),
      ...WITHOUT_TIMERS,
      readEvents: () => [],
    };
    const headers: HeaderList = [['x-subject', subject]];
    const answer = await endpoints.handle(
      { nowMs, seed: 7n, metadata: [] },
      { route, parameters: [], query: '', headers, caller: 'local', body: { kind: 'none' } },
      calls,
    );
    return answer.kind === 'response' ? answer : Promise.reject(new Error(answer.message));
  };
}

describe('a limit', () => {
  test('counts the requests of each caller, over all routes behind it', async () => {
    const send = started();
    const statuses: number[] = [];
    for (const [route, subject] of [
      [0, 'ann'],
      [1, 'ann'],
      [0, 'ann'],
      [1, 'ann'],
      [0, 'bob'],
    ] as const)
      statuses.push((await send(route, subject)).status);
    expect(statuses).toEqual([200, 200, 429, 429, 200]);
  });

  test('answers when the caller may come again', async () => {
    const send = started();
    for (let count = 0; count < 2; count++) await send(0, 'ann');
    expect(await send(0, 'ann', 500)).toEqual({
      kind: 'response',
      status: 429,
      headers: [
        ['retry-after', '30'],
        ['ratelimit-limit', '2'],
        ['ratelimit-remaining', '0'],
        ['ratelimit-reset', '30'],
      ],
      body: {
        kind: 'json',
        text: '{"status":429,"error":"There are more than 2 requests a minute. Try again in 30 s."}',
      },
    });
    expect((await send(0, 'ann', 30_000)).status).toBe(200);
  });

  test('limits no requests of undefined, and passes on what the check before it has given', async () => {
    const send = started();
    for (let count = 0; count < 5; count++)
      expect(await send(0, 'admin')).toMatchObject({ status: 200, body: { text: 'admin' } });
  });

  test('may be the first check', async () => {
    const send = started();
    expect(await send(2, '')).toMatchObject({ body: { text: 'in' } });
    expect(await send(2, '')).toMatchObject({ status: 429 });
  });

  test('counts in each service for itself', async () => {
    const [first, second] = [started(), started()];
    for (const send of [first, first, second, second])
      expect((await send(0, 'ann')).status).toBe(200);
    expect((await first(0, 'ann')).status).toBe(429);
  });

  test('is declared as a refusal of its routes', () => {
    const { descriptor } = createEmbeddedGuest({ endpoints: [endpoint] });
    const [one, , , free] = descriptor.endpoints[0]!.routes;
    expect(one!.refusals).toEqual([
      { status: 429, reason: 'the caller makes more than 2 requests a minute' },
    ]);
    expect(free!.refusals).toBeUndefined();
  });

  test.each([0, -1, 1.5, Number.NaN, 1_000_001])('of %d requests is refused', (perMinute) => {
    expect(() => limited({ perMinute, by: () => '' })).toThrow(
      `limited: perMinute is ${perMinute}. Write a whole number from 1 to 1000000.`,
    );
  });
});
