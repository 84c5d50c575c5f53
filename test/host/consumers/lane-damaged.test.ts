// A lane whose row is not what was written, among others.
import { expect, test } from 'vitest';
import { CONSUMER_SETTINGS_DEFAULT } from '../../../host/consumers/consumer-settings.ts';
import { CONSUMER, SimulatedConsumer } from '../../support/consumers/simulated-consumer.ts';

const damage = expect.objectContaining({
  code: 'SVC_JOURNAL_CORRUPT',
  message: expect.stringContaining('account/a') as string,
}) as Error;

/** A consumer that has parked `a` and `b` at their first events, and starts again with a damaged row of `a`. */
async function damagedConsumer() {
  let isBroken = true;
  const consumer = new SimulatedConsumer({
    settings: CONSUMER_SETTINGS_DEFAULT,
    random: (limit) => limit - 1,
    next: () => ({
      ending: isBroken ? { kind: 'park', reason: 'It faulted.' } : { kind: 'done' },
      tookMs: 1,
    }),
    journal: () => ({ fails: false, tookMs: 1 }),
  });
  for (const id of ['a', 'b', 'a', 'a', 'a']) consumer.append(id);
  await consumer.time.advance(2_000);
  const { position } = consumer;
  const lane = consumer.lanes.find(({ entity }) => entity.id === 'a')!;
  const lanes = [{ ...lane, seq: 0, attempts: 0, round: 0, isDamaged: true } as const];
  await consumer.journal.settleConsumer(CONSUMER, { position: position!, lanes, rejoined: [] });
  isBroken = false;
  consumer.crash();
  await consumer.time.advance(2_000);
  consumer.delivered.length = 0;
  return consumer;
}

test('it delivers nothing, and is not retried, while the others go on', async () => {
  const consumer = await damagedConsumer();
  expect(consumer.failures).toEqual([damage]);
  expect(consumer.dispatcher).toMatchObject({ isOpen: true, parked: 2 });
  expect(() => consumer.retry('a')).toThrow(damage);
  expect(consumer.dispatcher.orders.retryFirst(10)).toBe(true);
  for (const id of ['a', 'c']) consumer.append(id);
  await consumer.time.advance(2_000);
  expect(consumer.delivered.toSorted()).toEqual(['b 1 1', 'c 1 1']);
  expect(consumer.dispatcher.orders.retryFirst(10)).toBe(false);
  expect(consumer.lanes).toMatchObject([{ entity: { id: 'a' }, isDamaged: true }]);
});

test('it continues after the event that an operator skips', async () => {
  const consumer = await damagedConsumer();
  expect(consumer.skip('a', 2)).toBe(true);
  expect(consumer.skipped).toEqual(['a 2']);
  await consumer.time.advance(2_000);
  expect(consumer.delivered).toEqual(['a 3 1', 'a 4 1']);
  expect(consumer.dispatcher.parked).toBe(1);
  expect(consumer.lanes).toMatchObject([{ entity: { id: 'b' } }]);
});
