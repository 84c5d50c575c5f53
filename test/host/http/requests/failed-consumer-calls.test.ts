// How an attempt of a consumer ends in which a call has failed, whatever the consumer makes of it.
import { describe, expect, test } from 'vitest';
import { SvcError } from '@svc/kit/svc-error';
import type { GuestConsumers } from '../../../../model/guest.ts';
import {
  eventHandler,
  FailedCall,
  type HandledEvent,
} from '../../../../host/http/requests/event-handler.ts';
import type { Refusal } from '../../../../model/call.ts';
import type { Verdict } from '../../../../model/consumer.ts';
import { GuestFault } from '../../../../model/guest-fault.ts';
import { unlimitedEventLoop } from '../../../support/unlimited-event-loop.ts';
import { WITHOUT_TIMERS } from '../../../support/without-timers.ts';

const EVENT: HandledEvent = {
  entity: { component: 'order', id: 'o 1' },
  seq: 7,
  timeMs: 1_700_000_000_000,
  event: { manifest: 'order-event', json: '{"type":"paid"}' },
  seed: 5n,
  trace: undefined,
};
const DONE: Verdict = { kind: 'done' };
const FULL = new SvcError('SVC_DISK_FULL', 'the disk is full');
const BROKEN = new SvcError('SVC_EVENT_UNREADABLE', 'unknown event');

/** Handles an event with a call that fails, and ends as `end` says. */
async function afterFailedCall(failure: Error, end: () => Verdict | Refusal): Promise<unknown> {
  const consumers: GuestConsumers = {
    async handle(_context, _consumer, _event, calls) {
      const booked = calls.call({ component: 'account', id: 'a' }, 'book', '1', [], undefined);
      await Promise.resolve(booked).catch(() => {});
      return end();
    },
  };
  const handle = eventHandler({
    guest: { consumers },
    engine: {
      ...WITHOUT_TIMERS,
      readEvents: async () => [],
      call: () => Promise.reject(failure),
    },
    eventLoop: unlimitedEventLoop(),
    answerTimeoutMs: 60_000,
  })!;
  return handle('ledger', EVENT, 0).catch((error: unknown) => error);
}

describe('a consumer whose call has failed for a reason of the runtime', () => {
  test.each<[string, () => Verdict | Refusal]>([
    ['asks for another attempt', () => ({ kind: 'retry', reason: 'full', afterMs: undefined })],
    ['skips the event', () => ({ kind: 'skip', reason: 'full' })],
    ['refuses the event', () => ({ kind: 'refusal', code: 'CONFLICT', message: 'full' })],
    [
      'faults',
      () => {
        throw new GuestFault('trap', 'it traps');
      },
    ],
  ])('and that %s fails with that reason', async (_how, end) => {
    const failed = await afterFailedCall(FULL, end);
    expect(failed).toBeInstanceOf(FailedCall);
    expect((failed as FailedCall).cause).toBe(FULL);
  });

  test('and that is done all the same is done', async () => {
    expect(await afterFailedCall(FULL, () => DONE)).toEqual(DONE);
  });
});

test('a verdict after a call that failed for a reason of the called entity counts', async () => {
  const retry = { kind: 'retry', reason: 'broken', afterMs: undefined } as const;
  expect(await afterFailedCall(BROKEN, () => retry)).toEqual(retry);
  expect(await afterFailedCall(new GuestFault('trap', 'x'), () => retry)).toEqual(retry);
});
