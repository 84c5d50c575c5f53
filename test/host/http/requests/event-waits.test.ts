// The time of a consumer does not run while it waits for an instance.
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { GuestConsumers, HostCalls } from '../../../../model/guest.ts';
import { eventHandler, type HandledEvent } from '../../../../host/http/requests/event-handler.ts';
import type { Verdict } from '../../../../model/consumer.ts';
import { WITHOUT_TIMERS } from '../../../support/without-timers.ts';
import { unlimitedEventLoop } from '../../../support/unlimited-event-loop.ts';

const EVENT: HandledEvent = {
  entity: { component: 'order', id: 'o 1' },
  seq: 7,
  timeMs: 1_700_000_000_000,
  event: { manifest: 'order-event', json: '{"type":"paid"}' },
  seed: 5n,
  trace: undefined,
};
const DONE: Verdict = { kind: 'done' };

/** Returns the handler of events of a consumer that has a second to answer. */
function handling(handle: (calls: HostCalls) => Promise<Verdict>) {
  const consumers: GuestConsumers = {
    handle: (_context, _consumer, _event, calls) => handle(calls),
  };
  return eventHandler({
    guest: { consumers },
    engine: {
      ...WITHOUT_TIMERS,
      readEvents: async () => [],
      call: () => ({ kind: 'reply', json: '1' }),
    },
    eventLoop: unlimitedEventLoop(),
    answerTimeoutMs: 1_000,
  })!;
}

/** Waits for an instance until `hasInstance` resolves, and is done when `isDone` does, after a second at most. */
function waiting() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const hasInstance = Promise.withResolvers<void>();
  const isDone = Promise.withResolvers<void>();
  const cancelled: unknown[] = [];
  const handle = handling(async (calls) => {
    calls.noteWaiting?.(true);
    await hasInstance.promise;
    cancelled.push(calls.cancelReason);
    calls.noteWaiting?.(false);
    await isDone.promise;
    return DONE;
  });
  const outcome = handle('ledger', EVENT, 0).catch((error: unknown) => error);
  return { hasInstance, isDone, outcome, cancelled };
}

describe('a consumer that waits for an instance', () => {
  test('has all of its time once it has one', async () => {
    const { hasInstance, isDone, outcome } = waiting();
    await vi.advanceTimersByTimeAsync(900);
    hasInstance.resolve();
    await vi.advanceTimersByTimeAsync(900);
    isDone.resolve();
    expect(await outcome).toEqual(DONE);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('and is not done in time then, has failed itself', async () => {
    const { hasInstance, outcome } = waiting();
    await vi.advanceTimersByTimeAsync(900);
    hasInstance.resolve();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await outcome).toMatchObject({ faultCause: 'time', limit: 'request-time' });
  });

  test('as long as it may take, has met an overload, and handles the event no more', async () => {
    const { hasInstance, isDone, outcome, cancelled } = waiting();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await outcome).toMatchObject({ code: 'SVC_OVERLOADED' });
    hasInstance.resolve();
    isDone.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(cancelled).toMatchObject([{ faultCause: 'time' }]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
