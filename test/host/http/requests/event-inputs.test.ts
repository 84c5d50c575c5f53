// The inputs of a consumer's calls share the memory of those of requests.
import { expect, test } from 'vitest';
import type { GuestConsumers } from '../../../../model/guest.ts';
import { eventHandler, type HandledEvent } from '../../../../host/http/requests/event-handler.ts';
import type { Verdict } from '../../../../model/consumer.ts';
import { requestBudgets } from '../../../../model/request-budgets.ts';
import { WITHOUT_TIMERS } from '../../../support/without-timers.ts';
import { unlimitedEventLoop } from '../../../support/unlimited-event-loop.ts';

const event = (seq: number): HandledEvent => ({
  entity: { component: 'order', id: 'o 1' },
  seq,
  timeMs: 1_700_000_000_000,
  event: { manifest: 'order-event', json: '{}' },
  seed: 5n,
  trace: undefined,
});
const DONE: Verdict = { kind: 'done' };

test('inputs of calls that consumers wait for fill the memory of requests, until the calls are done', async () => {
  const limits = { unsentBytesMax: 1_000_000, responseBytesMax: 1_000, bodyBytesTotalMax: 1 };
  const budgets = requestBudgets(limits);
  const answer: (() => void)[] = [];
  const consumers: GuestConsumers = {
    async handle(_context, _consumer, { seq }, calls) {
      const input = JSON.stringify(`${seq}`.repeat(300_000));
      await calls.call({ component: 'account', id: `${seq}` }, 'book', input, [], undefined);
      return DONE;
    },
  };
  const handle = eventHandler({
    guest: { consumers },
    engine: {
      ...WITHOUT_TIMERS,
      readEvents: async () => [],
      call: () =>
        new Promise((resolve) => {
          answer.push(() => resolve({ kind: 'reply', json: '1' }));
        }),
    },
    eventLoop: unlimitedEventLoop(),
    answerTimeoutMs: 60_000,
    budgets,
  })!;
  const refused: unknown[] = [];
  const outcomes = Array.from({ length: 10 }, async (_, seq) => {
    try {
      return await handle('ledger', event(seq), 0);
    } catch (error) {
      refused.push(error);
      return undefined;
    }
  });
  await expect.poll(() => answer.length + refused.length).toBe(10);
  expect(answer.length).toBeGreaterThan(0);
  expect(refused[0]).toMatchObject({ cause: { code: 'SVC_OVERLOADED' } });
  for (const one of answer.splice(0)) one();
  expect(await Promise.all(outcomes)).toContainEqual(DONE);
  const later = handle('ledger', event(9), 0);
  await expect.poll(() => answer).toHaveLength(1);
  answer[0]!();
  expect(await later).toEqual(DONE);
  expect(budgets.unsent.isUsedUp).toBe(false);
});
