// Parked lanes whose stored rows an operator has changed by another process.
import { expect, test, vi } from 'vitest';
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
  const journal = { fails: () => false };
  const consumer = new SimulatedConsumer({
    settings: CONSUMER_SETTINGS_DEFAULT,
    random: (limit) => limit - 1,
    next: ({ entity, seq }) => ({
      ending: broken.has(entity.id) && seq === 1 ? PARKED : { kind: 'done' },
      tookMs: 1,
    }),
    journal: () => ({ fails: journal.fails(), tookMs: 1 }),
  });
  for (const id of ids) {
    consumer.append(id);
    consumer.append(id);
  }
  await consumer.time.advance(2_000);
  expect(consumer.dispatcher.parked).toBe(ids.length);
  return { consumer, broken, journal };
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
  consumer.dispatcher.renew();
  await consumer.time.advance(2_000);
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

test('one that is to be retried is delivered again once the lanes can be read', async () => {
  const { consumer, broken, journal } = await parkedConsumer('a');
  broken.clear();
  change(consumer, 'a', 'retry');
  journal.fails = () => true;
  await renewed(consumer);
  expect(consumer.unsettled('a')).toEqual([1, 2]);
  expect(consumer.failures).not.toEqual([]);
  journal.fails = () => false;
  await consumer.time.advance(3_000);
  expect(consumer.unsettled('a')).toEqual([]);
  expect(consumer.violations).toEqual([]);
});

test.each(['retry', 'skip'] as const)(
  'what an operator has changed is followed by a consumer that does not know that its lane was stored: %s',
  async (how) => {
    const { consumer, broken, journal } = await parkedConsumer('a');
    broken.add('b');
    consumer.append('b');
    consumer.append('b');
    // Its row is stored, and the answer is lost.
    journal.fails = () => consumer.lanes.length === 2;
    await consumer.time.advance(5_000);
    expect(consumer.dispatcher.parked).toBe(2);
    expect(consumer.failures).not.toEqual([]);
    // Nobody waits for a settlement that waits itself.
    const refused = vi.fn<(error: Error) => void>();
    consumer.dispatcher.settled().catch(refused);
    await consumer.time.advance(2_000);
    expect(refused).toHaveBeenCalledOnce();
    broken.clear();
    change(consumer, 'b', how);
    consumer.dispatcher.renew();
    journal.fails = () => false;
    await consumer.time.advance(5_000);
    expect(consumer.unsettled('b')).toEqual([]);
    expect(consumer.skipped).toEqual(how === 'skip' ? ['b 1'] : []);
    expect(consumer.lanes.map(({ entity }) => entity.id)).toEqual(['a']);
    expect(consumer.violations).toEqual([]);
  },
);

test('a settlement that is stored late is waited for, so that a change of an operator after it stays', async () => {
  const { consumer, broken } = await parkedConsumer('a');
  broken.add('b');
  consumer.append('b');
  consumer.append('b');
  consumer.isLate = true;
  await consumer.time.advance(1_000);
  expect(consumer.dispatcher.parked).toBe(2);
  consumer.isLate = false;
  const { writes } = consumer;
  await consumer.time.advance(5_000);
  // Nothing is stored as long as it is not known what is.
  expect(consumer.writes).toBe(writes);
  consumer.commit();
  broken.clear();
  change(consumer, 'b', 'skip');
  consumer.dispatcher.renew();
  await consumer.time.advance(5_000);
  expect(consumer.skipped).toEqual(['b 1']);
  expect(consumer.unsettled('b')).toEqual([]);
  expect(consumer.lanes.map(({ entity }) => entity.id)).toEqual(['a']);
  expect(consumer.violations).toEqual([]);
});

test('a stop after a settlement that has failed keeps what an operator has changed', async () => {
  const { consumer, broken, journal } = await parkedConsumer('a');
  broken.add('b');
  consumer.append('b');
  consumer.append('b');
  // Its row is stored, and the answer is lost.
  journal.fails = () => consumer.lanes.length === 2;
  await consumer.time.advance(2_000);
  change(consumer, 'b', 'skip');
  journal.fails = () => false;
  const stopped = consumer.dispatcher.stop(1_000);
  await consumer.time.advance(3_000);
  expect(await stopped).toBe(0);
  expect(consumer.lanes.find(({ entity }) => entity.id === 'b')).toMatchObject({ seq: 2 });
  expect(consumer.skipped).toEqual(['b 1']);
  expect(consumer.violations).toEqual([]);
});
