// Parked lanes whose stored rows an operator has changed by another process.
import { expect, test } from 'vitest';
import { CONSUMER_SETTINGS_DEFAULT } from '../../../host/consumers/consumer-settings.ts';
import { retriedLane, skippedLane } from '../../../host/storage/lane-changes.ts';
import {
  CONSUMER,
  SimulatedConsumer,
  type Ending,
} from '../../support/consumers/simulated-consumer.ts';

const PARKED: Ending = { kind: 'park', reason: 'It faulted.' };

/** A consumer with which the events of each of these entities are parked at the first one. */
async function parkedConsumer(...ids: readonly string[]) {
  const broken = new Set(ids);
  const consumer = new SimulatedConsumer({
    settings: CONSUMER_SETTINGS_DEFAULT,
    random: (limit) => limit - 1,
    next: ({ entity, seq }) => ({
      ending: broken.has(entity.id) && seq === 1 ? PARKED : { kind: 'done' },
      tookMs: 1,
    }),
    journal: () => ({ fails: false, tookMs: 1 }),
  });
  for (const id of ids) {
    consumer.append(id);
    consumer.append(id);
  }
  await consumer.time.advance(2_000);
  expect(consumer.dispatcher.parked).toBe(ids.length);
  return { consumer, broken };
}

/** Changes the stored row of an entity, as another process does. */
function change(consumer: SimulatedConsumer, id: string, how: 'retry' | 'skip'): void {
  const nowMs = consumer.time.nowMs();
  const lane = consumer.lanes.find(({ entity }) => entity.id === id)!;
  const changed =
    how === 'retry'
      ? retriedLane(CONSUMER.id, lane, nowMs)
      : skippedLane(lane, { seq: 1, reason: 'The operator says so.' }, nowMs);
  const position = consumer.position!;
  consumer.journal.consumers.settle(CONSUMER, { position, lanes: [changed!], rejoined: [] });
}

async function renewed(consumer: SimulatedConsumer): Promise<void> {
  const renewing = consumer.dispatcher.renew();
  await consumer.time.advance(1_000);
  await renewing;
  await consumer.time.advance(1_000);
}

test('one that is to be retried is delivered again, and no other one', async () => {
  const { consumer, broken } = await parkedConsumer('a', 'b');
  broken.clear();
  change(consumer, 'a', 'retry');
  await renewed(consumer);
  expect(consumer.unsettled('a')).toEqual([]);
  expect(consumer.unsettled('b')).toEqual([1, 2]);
  expect(consumer.dispatcher.parked).toBe(1);
  expect(consumer.lanes.map(({ entity }) => entity.id)).toEqual(['b']);
  expect(consumer.violations).toEqual([]);
});

test('one whose event is skipped continues with the next one, and the skip is reported once', async () => {
  const { consumer } = await parkedConsumer('a');
  change(consumer, 'a', 'skip');
  await renewed(consumer);
  await renewed(consumer);
  expect(consumer.skipped).toEqual(['a 1']);
  expect(consumer.unsettled('a')).toEqual([]);
  expect(consumer.lanes).toEqual([]);
  expect(consumer.violations).toEqual([]);
});

test('one that is parked again stays parked, and nothing is delivered if nothing has changed', async () => {
  const { consumer } = await parkedConsumer('a');
  const before = consumer.delivered.length;
  await renewed(consumer);
  expect(consumer.delivered).toHaveLength(before);
  change(consumer, 'a', 'retry');
  await renewed(consumer);
  expect(consumer.delivered).toHaveLength(before + 1);
  await renewed(consumer);
  expect(consumer.delivered).toHaveLength(before + 1);
  expect(consumer.dispatcher.parked).toBe(1);
  expect(consumer.violations).toEqual([]);
});
