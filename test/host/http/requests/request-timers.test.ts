// Timers that a handler sets and cancels: what reaches the journal, and which failures the handler can read.
import { expect, test } from 'vitest';
import { callFailure } from '../../../../model/call-failure.ts';
import { GuestFault } from '../../../../model/guest-fault.ts';
import { eventHandler } from '../../../../host/http/requests/event-handler.ts';
import { RequestCalls } from '../../../../host/http/requests/request-calls.ts';
import { SvcError } from '../../../../kit/svc-error.ts';
import { failureOf } from '../../../support/engine-under-test.ts';
import { TimersUnderTest, ref, timerFor } from '../../../support/timers-under-test.ts';
import { unlimitedEventLoop } from '../../../support/unlimited-event-loop.ts';

const TRACEPARENT = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;

function handling(it = new TimersUnderTest()) {
  const calls = new RequestCalls(it.engine, { nowMs: () => it.nowMs }, unlimitedEventLoop());
  calls.metadata = [['traceparent', TRACEPARENT]];
  return { it, calls };
}

test('a timer belongs to its target, and has the trace of the request', async () => {
  const { it, calls } = handling();
  await calls.setTimer(timerFor('a', 'add', 1));
  expect(it.timers).toMatchObject([
    { owner: ref('a'), target: ref('a'), traceParent: TRACEPARENT },
  ]);
  await calls.cancelTimer(ref('a'), 'tick');
  expect(it.timers).toEqual([]);
});

test('timers that a consumer sets count from its event, so that each attempt sets the same ones', async () => {
  const it = new TimersUnderTest();
  const eventMs = it.nowMs;
  const after = { kind: 'after', afterMs: 60_000 } as const;
  const every = { kind: 'every', everyMs: 3_600_000 } as const;
  const handle = eventHandler({
    guest: {
      consumers: {
        handle: async (_context, _consumer, _event, calls) => {
          await calls.setTimer(timerFor('a', 'add', 1, { due: after }));
          await calls.setTimer(timerFor('a', 'add', 1, { name: 'again', due: every }));
          return { kind: 'done' };
        },
      },
    },
    engine: it.engine,
    eventLoop: unlimitedEventLoop(),
    answerTimeoutMs: 60_000,
  })!;
  const event = { manifest: 'order-event', json: '{}' };
  const attempt = () =>
    handle(
      'ledger',
      { entity: ref('o'), seq: 1, timeMs: eventMs, event, seed: 1n, trace: undefined },
      0,
    );
  await attempt();
  const first = it.timers.map(({ dueMs }) => dueMs);
  expect(first).toEqual([eventMs + 60_000, eventMs + 3_600_000]);
  it.nowMs += 7_000;
  await attempt();
  expect(it.timers.map(({ dueMs }) => dueMs)).toEqual(first);
});

test('a handler that is run again repeats the calls before, and sets its timer once', async () => {
  const { it, calls } = handling();
  await it.outcome('a', 'add', 3);
  const call = [ref('a'), 'add', '4', [], undefined] as const;
  expect(calls.speculate!(...call)).toMatchObject({ json: '7' });
  // It has to wait for the timer, so it is run again where it can.
  expect(calls.beginReplay()).toBe(true);
  expect(await calls.call(...call)).toMatchObject({ json: '7' });
  await calls.setTimer(timerFor('a', 'add', 1));
  expect(it.timers.map(({ number }) => number)).toEqual([1]);
  expect(await it.outcome('a', 'history')).toEqual([3, 4]);
});

test('a timer that cannot be is denied with its reason, and a handler that passes that on is answered with it', async () => {
  const { it, calls } = handling();
  const failure: unknown = await Promise.resolve(calls.setTimer(timerFor('a', 'nothing'))).catch(
    (error: unknown) => error,
  );
  expect(failureOf(failure)).toBe('SVC_TIMER_INVALID');
  const { word, text } = callFailure(failure)!;
  expect([word, text]).toEqual(['DENIED', (failure as Error).message]);
  expect(text).toContain("timer 'tick' names the command 'nothing'");
  const answer = { kind: 'refusal', code: 'OTHER', otherCode: word, message: text } as const;
  expect(calls.failurePassedOnBy(answer)).toBe(failure);
  expect(it.timers).toEqual([]);
});

test('an append that fails is unavailable to the handler, and nothing was set', async () => {
  const { it, calls } = handling();
  it.journal.held = true;
  const set = Promise.resolve(calls.setTimer(timerFor('a', 'add', 1))).catch(
    (error: unknown) => error,
  );
  await it.journal.fail(new SvcError('SVC_TIMERS_FULL', 'too many'));
  expect(callFailure(await set)).toEqual({
    word: 'UNAVAILABLE',
    text: 'there are too many timers',
  });
  expect(it.timers).toEqual([]);
});

test('after the request was cancelled no timer is changed, and the change that waits fails', async () => {
  const { it, calls } = handling();
  it.journal.held = true;
  const waiting = calls.setTimer(timerFor('a', 'add', 1));
  const reason = new GuestFault('time', 'too late', { limit: 'request-time' });
  calls.cancel(reason);
  await expect(waiting).rejects.toBe(reason);
  expect(() => calls.setTimer(timerFor('b', 'add', 1))).toThrow(reason);
  expect(() => calls.cancelTimer(ref('a'), 'tick')).toThrow(reason);
  await it.journal.letAllThrough();
  expect(it.timers).toHaveLength(1);
});
