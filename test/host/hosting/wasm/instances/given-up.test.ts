// Cancelled handlers: the call that they wait for fails, they end, and the instance serves the next request.
import { describe, expect, test } from 'vitest';
import type { HostCalls } from '../../../../../model/guest.ts';
import { EventLoopBudget } from '../../../../../host/http/requests/event-loop-budget.ts';
import type { Reply } from '../../../../../model/call.ts';
import { GuestFault } from '../../../../../model/guest-fault.ts';
import { SvcError, type SvcErrorCode } from '../../../../../kit/svc-error.ts';
import { RequestCalls } from '../../../../../host/http/requests/request-calls.ts';
import type { GuestParts } from '../support/guest-module.ts';
import { CONTEXT, faultOf, hostCalls, liveGuest, request } from '../support/live-guest.ts';
import { WITHOUT_TIMERS } from '../../../../support/without-timers.ts';

const LATE = new GuestFault('time', 'too late', { limit: 'request-time' });
const LIMITS = { endpointInstancesMax: 1, waitingRequestsMax: 1 };
const CALL = `(call $call ${'(i32.const 0)'.repeat(13)} (i32.const 256))`;
const READ = `(call $read ${'(i32.const 0)'.repeat(4)} (i64.const 0) (i32.const 1) (i32.const 256))`;
const ANSWER = `(drop (call $clear)) (i32.store16 (i32.const 20) (i32.const 200)) (i32.const 16)`;
/** Route 0 calls for ever, route 1 reads, all others answer. */
const STUBBORN: GuestParts = {
  handle: `(if (i32.eqz (local.get $route)) (then (loop $l ${CALL} (br $l))))
    (if (i32.eq (local.get $route) (i32.const 1)) (then (loop $l ${READ} (br $l))))
    ${ANSWER}`,
};
const clock = { nowMs: () => 1 };
const atOnce = (): Reply => ({ kind: 'reply', json: '1' });
const never = () => new Promise<never>(() => {});

describe('a handler that is cancelled', () => {
  test.each([
    ['calls a component', 0],
    ['reads a journal', 1],
  ])('while it %s ends with that, and its instance serves the next', async (_what, route) => {
    const { endpoints } = await liveGuest(STUBBORN, LIMITS);
    const calls = new RequestCalls({ call: never, ...WITHOUT_TIMERS, readEvents: never }, clock);
    const answer = endpoints.handle(CONTEXT, request(route), calls) as Promise<unknown>;
    calls.cancel(LATE);
    expect(await faultOf(() => answer)).toMatchObject({
      faultCause: 'time',
      limit: 'request-time',
    });
    expect(await endpoints.handle(CONTEXT, request(2), hostCalls())).toMatchObject({ status: 200 });
  });

  test('between two calls makes no further one', async () => {
    const { endpoints } = await liveGuest(STUBBORN, LIMITS);
    let asked = 0;
    const engine = {
      call: async (): Promise<Reply> => {
        if (++asked === 3) calls.cancel(LATE);
        return { kind: 'reply', json: '1' };
      },
      ...WITHOUT_TIMERS,
      readEvents: never,
    };
    const calls = new RequestCalls(engine, clock);
    const answer = endpoints.handle(CONTEXT, request(0), calls);
    expect((await faultOf(() => answer)).limit).toBe('request-time');
    expect(asked).toBe(3);
  });

  test('before it has an instance never begins', async () => {
    const { endpoints } = await liveGuest(STUBBORN, LIMITS);
    const first = new RequestCalls({ call: never, ...WITHOUT_TIMERS, readEvents: never }, clock);
    const second = new RequestCalls({ call: never, ...WITHOUT_TIMERS, readEvents: never }, clock);
    const held = endpoints.handle(CONTEXT, request(0), first) as Promise<unknown>;
    const waiting = endpoints.handle(CONTEXT, request(2), second) as Promise<unknown>;
    second.cancel(LATE);
    first.cancel(LATE);
    await faultOf(() => held);
    expect((await faultOf(() => waiting)).limit).toBe('request-time');
    expect(await endpoints.handle(CONTEXT, request(2), hostCalls())).toMatchObject({ status: 200 });
  });
});

test('a handler whose calls are all answered at once lets the event loop turn', async () => {
  const { endpoints } = await liveGuest(STUBBORN, { ...LIMITS, componentCallsMax: 50 });
  let nowMs = 0;
  let turns = 0;
  const eventLoop = new EventLoopBudget({
    nowMs: () => (nowMs += 3),
    nextTurn: (callback) =>
      setImmediate(() => {
        turns++;
        callback();
      }),
    afterPromises: (callback) => queueMicrotask(() => process.nextTick(callback)),
  });
  const engine = { call: atOnce, speculate: atOnce, ...WITHOUT_TIMERS, readEvents: never };
  const calls = new RequestCalls(engine, clock, eventLoop);
  const fault = await faultOf(() => endpoints.handle(CONTEXT, request(0), calls));
  expect(fault.limit).toBe('component-calls');
  expect(turns).toBeGreaterThan(10);
});

test.each([
  ['SVC_OVERLOADED', 'too much is waiting'],
  ['SVC_STOPPING', 'the service is stopping'],
  ['SVC_JOURNAL_UNAVAILABLE', 'the journal is unavailable'],
  ['SVC_JOURNAL_FULL', 'the journal is full'],
  ['SVC_DISK_FULL', 'the disk is full'],
  ['SVC_ENTITY_HELD_BACK', 'the entity fails and is held back for a while'],
] as const)(
  'after %s a handler is told that nothing was done',
  async (code: SvcErrorCode, told) => {
    // Answers with the result of its call; the status has the case of the error.
    const { endpoints } = await liveGuest({
      handle: `${CALL} (i32.store (i32.const 300) (i32.load8_u (i32.const 260)))
      (drop (call $clear))
      (i32.store16 (i32.const 20) (i32.add (i32.const 200) (i32.load (i32.const 300))))
      (i32.store8 (i32.const 32) (i32.const 2))
      (i32.store (i32.const 36) (i32.load (i32.const 264)))
      (i32.store (i32.const 40) (i32.load (i32.const 268))) (i32.const 16)`,
    });
    const calls: Partial<HostCalls> = {
      call: () => Promise.reject(new SvcError(code, 'secret /data/path')),
    };
    const answer = await endpoints.handle(CONTEXT, request(0), hostCalls(calls));
    expect(answer).toMatchObject({ status: 202, body: { kind: 'text', text: told } });
  },
);
