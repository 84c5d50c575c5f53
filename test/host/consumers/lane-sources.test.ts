// Lanes whose events the consumer no longer handles, because another module declares other sources for it.
import { describe, expect, test } from 'vitest';
import { CONSUMER_SETTINGS_DEFAULT } from '../../../host/consumers/consumer-settings.ts';
import {
  CONSUMER,
  SimulatedConsumer,
  type Ending,
} from '../../support/consumers/simulated-consumer.ts';

const RETRY: Ending = { kind: 'retry', reason: 'Not yet.', afterMs: 60_000 };
const entity = { component: 'account', id: 'a' };

/** Makes a consumer that tries the first of three events again, until it is started without its source. */
async function withoutSource() {
  const state = { ending: RETRY };
  const consumer = new SimulatedConsumer({
    settings: CONSUMER_SETTINGS_DEFAULT,
    random: (limit) => limit - 1,
    next: () => ({ ending: state.ending, tookMs: 1 }),
    journal: () => ({ fails: false, tookMs: 1 }),
  });
  for (let n = 0; n < 3; n++) consumer.append('a');
  await consumer.time.advance(1000);
  expect(consumer.lanes).toMatchObject([{ seq: 1, attempts: 1, round: 1 }]);
  consumer.sources = ['other'];
  consumer.crash();
  await consumer.time.advance(120_000);
  return { consumer, state };
}

const PARKED = {
  seq: 1,
  attempts: 1,
  round: 1,
  nextMs: undefined,
  reason: expect.stringContaining("no longer handles events of component 'account'"),
};

describe('events that a consumer no longer handles', () => {
  test('are parked when they are due, without an attempt, and stay so', async () => {
    const { consumer } = await withoutSource();
    expect(consumer.delivered).toEqual(['a 1 1']);
    expect(consumer.lanes).toMatchObject([PARKED]);
    expect(consumer.parked).toEqual(['a 1']);
    consumer.crash();
    await consumer.time.advance(120_000);
    expect(consumer.lanes).toMatchObject([PARKED]);
    expect(consumer.skipped).toEqual([]);
    expect(consumer.retry('a')).toBe(true);
    await consumer.time.advance(1000);
    expect(consumer.lanes).toMatchObject([{ ...PARKED, attempts: 0 }]);
    consumer.crash();
    await consumer.time.advance(1000);
    expect(consumer.lanes).toMatchObject([{ ...PARKED, attempts: 0 }]);
    expect(consumer.skipped).toEqual([]);
  });

  test('are handled after a retry, once the source is there again', async () => {
    const { consumer, state } = await withoutSource();
    consumer.sources = ['account'];
    state.ending = { kind: 'done' };
    consumer.crash();
    await consumer.time.advance(1000);
    expect(consumer.retry('a')).toBe(true);
    await consumer.time.advance(1000);
    expect(consumer.delivered.slice(1)).toEqual(['a 1 1', 'a 2 1', 'a 3 1']);
    expect(consumer.rounds.slice(1)).toEqual([1, 0, 0]);
    expect(consumer.lanes).toEqual([]);
    expect(consumer.violations).toEqual([]);
  });

  test('are skipped with the one at which they are parked', async () => {
    const { consumer } = await withoutSource();
    expect(consumer.skip('a', 1)).toBe(true);
    await consumer.time.advance(1000);
    expect(consumer.lanes).toEqual([]);
    expect(consumer.skipped).toEqual(['a 1']);
    expect(consumer.dispatcher).toMatchObject({ lanes: 0, parked: 0 });
  });

  test('are skipped with one that was skipped while no host ran', async () => {
    const { consumer } = await withoutSource();
    const wait = { attempts: 0, round: 0, nextMs: 0, reason: 'The operator says so.' };
    const position = consumer.position!;
    await consumer.journal.settleConsumer(CONSUMER, {
      position,
      lanes: [{ entity, seq: 2, ...wait }],
      rejoined: [],
    });
    consumer.crash();
    await consumer.time.advance(1000);
    expect(consumer.lanes).toEqual([]);
    expect(consumer.skipped).toEqual(['a 1']);
    expect(consumer.parked).toEqual(['a 1']);
  });
});
