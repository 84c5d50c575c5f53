// Parked lanes that an operator retries many at a time.
import { expect, test } from 'vitest';
import { CONSUMER_SETTINGS_DEFAULT } from '../../../host/consumers/consumer-settings.ts';
import { SimulatedConsumer, type Ending } from '../../support/consumers/simulated-consumer.ts';

test('many parked lanes are retried in parts, those first that have waited for the longest time', async () => {
  const parked: Ending = { kind: 'park', reason: 'It faulted.' };
  const broken = new Set(['a', 'b', 'c']);
  const consumer = new SimulatedConsumer({
    settings: CONSUMER_SETTINGS_DEFAULT,
    random: (limit) => limit - 1,
    next: ({ entity }) => ({
      ending: broken.has(entity.id) ? parked : { kind: 'done' },
      tookMs: 1,
    }),
    journal: () => ({ fails: false, tookMs: 1 }),
  });
  expect(consumer.dispatcher.orders.retryFirst(2)).toBe(false);
  for (const id of broken) {
    consumer.append(id);
    // oxlint-disable-next-line no-await-in-loop -- one is parked after the other
    await consumer.time.advance(1_000);
  }
  broken.delete('b');
  broken.delete('c');
  expect(consumer.dispatcher.orders.retryFirst(2)).toBe(true);
  await consumer.time.advance(1_000);
  expect(consumer.delivered.slice(3)).toEqual(['a 1 1', 'b 1 1']);
  expect(consumer.dispatcher.orders.retryFirst(2)).toBe(true);
  await consumer.time.advance(1_000);
  expect(consumer.delivered.slice(5)).toEqual(['c 1 1', 'a 1 1']);
  expect(consumer.lanes).toMatchObject([{ entity: { id: 'a' }, round: 3, nextMs: undefined }]);
  expect(consumer.violations).toEqual([]);
});
