// An embedded handler that compensates: several of its calls fail, each in another way, and it throws one of the
// errors or answers with it. The caller receives the response to that error, whatever happened to the other calls.
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { createEmbeddedGuest } from '../../components/embedded-guest.ts';
import { defineEndpoint, defineEntity, post, refuse } from '../../host/embed.ts';
import {
  type CallEnd,
  CORRUPT,
  DONE,
  OUT_OF_FUEL,
  OVERLOADED,
  REFUSED,
  statusOf,
  TIMED_OUT,
  TRAPPED,
  UNAVAILABLE,
  UNCERTAIN,
} from '../support/ended-calls.ts';

const State = Type.Object({ n: Type.Integer() });
const ADDED = { type: 'added' } as const;
const thing = defineEntity({
  component: 'thing',
  state: { manifest: 'state', schema: State },
  event: {
    manifest: 'event',
    schema: Type.Union([Type.Object({ type: Type.Literal('added') })]),
  },
  empty: () => ({ n: 0 }),
  apply: ({ n }) => ({ n: n + 1 }),
  commands: {
    begin: { reply: State, handle: (_state, { persist }) => persist(ADDED).thenReplyState() },
    end: { reply: State, handle: (_state, { persist }) => persist(ADDED).thenReplyState() },
  },
});

const REPLY = { reply: State } as const;
/** Result of a call whose error the handler keeps, to throw it later or not. */
const kept = <Value>(call: Promise<Value>): Promise<Value | Error> =>
  call.catch((error: Error) => error);
function thrownOrAnswered<Value>(end: Value | Error): Value {
  if (end instanceof Error) throw end;
  return end;
}

const guest = createEmbeddedGuest({
  entities: [thing],
  endpoints: [
    defineEndpoint({
      prefix: '/things',
      access: 'internet',
      routes: {
        first: post('/first', REPLY, async (_request, { call }) => {
          const first = await kept(call(thing, 'a').begin());
          await kept(call(thing, 'b').end());
          return thrownOrAnswered(first);
        }),
        second: post('/second', REPLY, async (_request, { call }) => {
          await kept(call(thing, 'a').begin());
          return call(thing, 'b').end();
        }),
        finally: post('/finally', REPLY, async (_request, { call }) => {
          try {
            return await call(thing, 'a').begin();
          } finally {
            await kept(call(thing, 'b').end());
          }
        }),
        together: post('/together', REPLY, async (_request, { call }) => {
          const [first] = await Promise.all([call(thing, 'a').begin(), call(thing, 'b').end()]);
          return first;
        }),
        settled: post('/settled', REPLY, async (_request, { call }) => {
          const calls = [call(thing, 'a').begin(), call(thing, 'b').end()] as const;
          const [, second] = await Promise.allSettled(calls);
          if (second.status === 'rejected') throw second.reason;
          return second.value;
        }),
        wrapped: post('/wrapped', REPLY, async (_request, { call }) => {
          const first = await kept(call(thing, 'a').begin());
          await kept(call(thing, 'b').end());
          if (first instanceof Error) throw new Error('not begun', { cause: first });
          return first;
        }),
        refused: post('/refused', REPLY, async (_request, { call }) => {
          const first = await kept(call(thing, 'a').begin());
          await kept(call(thing, 'b').end());
          return first instanceof Error ? refuse('not begun', 'CONFLICT') : first;
        }),
        unread: post('/unread', REPLY, async (_request, { call }) => {
          await kept(call(thing, 'a').events());
          return call(thing, 'b').begin();
        }),
        unawaited: post('/unawaited', REPLY, async (_request, { call }) => {
          void kept(call(thing, 'a').begin());
          return call(thing, 'b').end();
        }),
      },
    }),
  ],
});
const ROUTES = guest.descriptor.endpoints[0]!.routes.map(({ handler }) => handler);

test.each<[route: string, a: CallEnd, b: CallEnd, status: number]>([
  ['first', TIMED_OUT, UNAVAILABLE, 504],
  ['first', UNCERTAIN, OVERLOADED, 504],
  ['first', TIMED_OUT, TRAPPED, 504],
  ['first', TIMED_OUT, REFUSED, 504],
  ['first', TIMED_OUT, DONE, 504],
  ['first', UNAVAILABLE, TIMED_OUT, 503],
  ['first', UNAVAILABLE, OVERLOADED, 503],
  ['first', TRAPPED, UNAVAILABLE, 500],
  ['first', TRAPPED, OUT_OF_FUEL, 500],
  ['first', OUT_OF_FUEL, TRAPPED, 504],
  ['first', CORRUPT, UNAVAILABLE, 500],
  ['first', REFUSED, TIMED_OUT, 409],
  ['first', DONE, TIMED_OUT, 200],
  ['second', TIMED_OUT, UNAVAILABLE, 503],
  ['second', UNAVAILABLE, TIMED_OUT, 504],
  ['second', TIMED_OUT, REFUSED, 409],
  ['second', TIMED_OUT, DONE, 200],
  ['finally', TIMED_OUT, UNAVAILABLE, 504],
  ['finally', UNAVAILABLE, TIMED_OUT, 503],
  ['finally', REFUSED, UNAVAILABLE, 409],
  ['together', TIMED_OUT, UNAVAILABLE, 504],
  ['together', DONE, UNAVAILABLE, 503],
  ['settled', TIMED_OUT, UNAVAILABLE, 503],
  ['settled', TIMED_OUT, DONE, 200],
  ['wrapped', TIMED_OUT, UNAVAILABLE, 500],
  ['refused', TIMED_OUT, UNAVAILABLE, 409],
  ['unread', CORRUPT, UNAVAILABLE, 503],
  ['unread', CORRUPT, DONE, 200],
  ['unawaited', TIMED_OUT, UNAVAILABLE, 503],
  ['unawaited', UNAVAILABLE, DONE, 200],
])(
  'the handler "%s", of whose calls one ends with %s and the other with %s, is answered with %i',
  async (route, a, b, status) => {
    expect(await statusOf(guest, ROUTES.indexOf(route), { a, b })).toBe(status);
  },
);
