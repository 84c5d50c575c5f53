// How the handling of an event ended, as the dispatcher gets it.
import { describe, expect, test } from 'vitest';
import { FailedCall, type HandleEvent } from '../../../host/http/requests/event-handler.ts';
import { GuestFault } from '../../../model/guest-fault.ts';
import { LimitCounters } from '../../../model/limit-counters.ts';
import { deliverEvent } from '../../../host/service/event-delivery.ts';
import { ServiceLog } from '../../../host/service/service-log.ts';
import type { LogEntry } from '@svc/kit/log-entry';
import { LOG_LIMITS_DEFAULT } from '@svc/kit/log-limits';
import { SvcError } from '@svc/kit/svc-error';

async function delivered(handle: HandleEvent, round = 0) {
  const entries: LogEntry[] = [];
  const log = new ServiceLog({
    limits: LOG_LIMITS_DEFAULT,
    counters: new LimitCounters(),
    send: (entry) => entries.push(entry),
  });
  const event = {
    entity: { component: 'order', id: 'o1' },
    seq: 3,
    timeMs: 1,
    event: { manifest: 'order-event', json: '{}' },
    seed: 1n,
    trace: undefined,
  };
  const answer = await deliverEvent(handle, { consumer: 'ledger', event, round }, log);
  return { ...answer, logged: entries.map(({ message }) => message) };
}
const rejecting = (error: Error): HandleEvent =>
  async function () {
    throw error;
  };
const failedCall = (cause: Error) => new FailedCall('a call failed', { cause });

describe('an event', () => {
  test.each([
    { kind: 'done' } as const,
    { kind: 'retry', reason: 'busy', afterMs: 5 } as const,
    { kind: 'skip', reason: 'not mine' } as const,
  ])('ends with the verdict of the consumer: $kind', async (verdict) => {
    expect(await delivered(async () => verdict)).toEqual({ outcome: verdict, logged: [] });
  });

  test('is handled in the round of its lane', async () => {
    const rounds: number[] = [];
    const handle: HandleEvent = async (_consumer, _event, round) => {
      rounds.push(round);
      return { kind: 'done' };
    };
    await delivered(handle);
    await delivered(handle, 3);
    expect(rounds).toEqual([0, 3]);
  });

  test('is parked by a refusal, with its code and message', async () => {
    const refusal = { kind: 'refusal', code: 'CONFLICT', message: 'no' } as const;
    const outcome = { kind: 'park', reason: 'CONFLICT: no' };
    expect(await delivered(async () => refusal)).toEqual({ outcome, logged: [] });
    const own = { ...refusal, code: 'OTHER', otherCode: 'SOLD_OUT' } as const;
    expect(await delivered(async () => own)).toMatchObject({
      outcome: { kind: 'park', reason: 'SOLD_OUT: no' },
    });
  });

  test('is tried again after TOO_MANY_REQUESTS', async () => {
    const refusal = { kind: 'refusal', code: 'TOO_MANY_REQUESTS', message: 'slow' } as const;
    expect(await delivered(async () => refusal)).toMatchObject({ outcome: { kind: 'retry' } });
  });

  test('is parked by a fault, which is logged', async () => {
    const fault = new GuestFault('trap', 'it traps', { guestMessage: 'abort: x\n  at y' });
    expect(await delivered(rejecting(fault))).toEqual({
      outcome: { kind: 'park', reason: 'it traps: abort: x' },
      logged: ['a consumer failed'],
    });
  });

  test('is parked with the words of the module, and where it has aborted', async () => {
    const guestMessage = 'abort: boom at assembly/ledger.ts:37:39';
    const fault = new GuestFault('trap', 'The module trapped: unreachable.', { guestMessage });
    expect(await delivered(rejecting(fault))).toMatchObject({
      outcome: { kind: 'park', reason: 'boom (assembly/ledger.ts:37:39)' },
    });
  });

  test.each([
    ['its time is over', new GuestFault('time', 'late', { limit: 'request-time' })],
    ['memory is lacking', new GuestFault('memory', 'none left')],
    ['an entity that it called faults', failedCall(new GuestFault('trap', 'it traps'))],
    [
      'an event of that entity is unreadable',
      failedCall(new SvcError('SVC_EVENT_UNREADABLE', 'x')),
    ],
    ['that entity backs off', failedCall(new SvcError('SVC_ENTITY_HELD_BACK', 'it faults'))],
    ['its records are damaged', failedCall(new SvcError('SVC_JOURNAL_CORRUPT', 'damaged'))],
    ['it has too many timers', failedCall(new SvcError('SVC_TIMERS_FULL', 'too many'))],
    ['its state was changed', failedCall(new SvcError('SVC_STATE_CHANGED', 'changed'))],
    ['a view has stopped', failedCall(new SvcError('SVC_VIEW_STOPPED', 'stopped'))],
  ])('is interrupted, and tried again, when %s', async (_when, failure) => {
    expect(await delivered(rejecting(failure))).toMatchObject({
      outcome: { kind: 'interrupted', reason: expect.any(String) as string },
      logged: ['a consumer failed'],
    });
  });

  test.each([
    ['the journal is full', new SvcError('SVC_JOURNAL_FULL', 'full')],
    ['a shard is away', failedCall(new SvcError('SVC_SHARD_UNAVAILABLE', 'away'))],
    ['the runtime has an error', new TypeError('a bug')],
  ])('is unavailable when %s, and costs no attempt', async (_when, failure) => {
    expect(await delivered(rejecting(failure))).toEqual({
      outcome: { kind: 'unavailable' },
      failure: expect.any(String),
      logged: [],
    });
  });

  test('is unavailable without a failure when the service stops', async () => {
    const stopping = new SvcError('SVC_STOPPING', 'stopping');
    expect(await delivered(rejecting(stopping))).toEqual({
      outcome: { kind: 'unavailable' },
      logged: [],
    });
  });

  test.each([
    ['a timer', failedCall(new SvcError('SVC_TIMER_INVALID', 'no such command'))],
    ['a key', new SvcError('SVC_IDEMPOTENCY_KEY_INVALID', 'too long')],
    ['rows', failedCall(new SvcError('SVC_FIND_INVALID', 'too many'))],
    ['a page', new SvcError('SVC_CURSOR_INVALID', 'not one')],
  ])('is parked when the consumer asks for %s that cannot be', async (_what, failure) => {
    expect(await delivered(rejecting(failure))).toMatchObject({ outcome: { kind: 'park' } });
  });
});
