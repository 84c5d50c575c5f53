// What every hosting has to keep of consumers, with `bookkeeping`, which books each payment of an order with an account.
import { describe, expect, test } from 'vitest';
import type { Guest, HostCalls } from '../../model/guest.ts';
import type { Refusal, Reply } from '../../model/call.ts';
import type { EntityEvent } from '../../model/entity.ts';
import { GuestFault } from '../../model/guest-fault.ts';
import { answering, context, opened } from './hosting-suite.ts';

const done: Reply = { kind: 'reply', json: 'null' };
const event = (json: string, id = 'o1'): EntityEvent => ({
  entity: { component: 'order', id },
  seq: 3,
  timeMs: context.nowMs,
  event: { manifest: 'order-event', json },
});
const paid = '{"type":"paid"}';

/** `openOrders` gives a fresh guest that serves the order with its consumer. */
export function hostingConsumerSuite(hosting: string, openOrders: () => Promise<Guest>): void {
  const handled = async (given: EntityEvent, calls: HostCalls = answering(done)) =>
    (await opened(openOrders)).consumers!.handle(context, 'bookkeeping', given, calls);

  describe(`${hosting}: a consumer`, () => {
    test('calls entities, and settles the event', async () => {
      const made: unknown[] = [];
      expect(await handled(event(paid), answering(done, made))).toEqual({ kind: 'done' });
      const account = { component: 'account', id: 'main' };
      expect(made).toEqual([[account, 'book', '{"order":"o1"}', context.metadata, undefined]]);
    });

    test('settles an event without a call', async () => {
      const made: unknown[] = [];
      const placed = event('{"type":"placed","cents":1}');
      expect(await handled(placed, answering(done, made))).toEqual({ kind: 'done' });
      expect(made).toEqual([]);
    });

    test('has an event handled again, with the reason and the pause', async () => {
      const busy: Refusal = { kind: 'refusal', code: 'CONFLICT', message: 'ä 漢 🎉' };
      expect(await handled(event(paid), answering(busy))).toEqual({
        kind: 'retry',
        reason: busy.message,
        afterMs: 5_000,
      });
    });

    test('skips an event, with the reason', async () => {
      expect(await handled(event('{"type":"reminded","text":"pay"}'))).toEqual({
        kind: 'skip',
        reason: "reminder 'pay'",
      });
    });

    test('refuses an event for good', async () => {
      expect(await handled(event('{"type":"expired"}'))).toMatchObject({
        kind: 'refusal',
        code: 'CONFLICT',
        message: 'no order expires here',
      });
    });

    test('handles events at the same time, each with its own verdict', async () => {
      const guest = await opened(openOrders);
      const calls: HostCalls = {
        ...answering(done),
        call: async (_target, _name, input) => ({
          kind: 'refusal',
          code: 'CONFLICT',
          message: input,
        }),
      };
      const ids = Array.from({ length: 20 }, (_, index) => `order-${index}`);
      const verdicts = await Promise.all(
        ids.map(async (id) =>
          guest.consumers!.handle(context, 'bookkeeping', event(paid, id), calls),
        ),
      );
      expect(verdicts).toEqual(
        ids.map((id) => ({ kind: 'retry', reason: `{"order":"${id}"}`, afterMs: 5_000 })),
      );
    });

    test.each([
      ['of an unknown case', '{"type":"exploded"}'],
      ['that is cut off', '{"type":"pai'],
    ])('faults at an event %s, and handles the next one', async (_what, json) => {
      const guest = await opened(openOrders);
      const handle = async (given: EntityEvent) =>
        guest.consumers!.handle(context, 'bookkeeping', given, answering(done));
      await expect(handle(event(json))).rejects.toBeInstanceOf(GuestFault);
      expect(await handle(event(paid))).toEqual({ kind: 'done' });
    });
  });
}
