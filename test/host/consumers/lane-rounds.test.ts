// Rounds: which attempts of an event make refused calls again, and which repeat the attempt before. The random histories of
// lane-dispatcher.test.ts check it too.
import { describe, expect, test } from 'vitest';
import { CONSUMER_SETTINGS_DEFAULT } from '../../../host/consumers/consumer-settings.ts';
import { SimulatedConsumer, type Ending } from '../../support/consumers/simulated-consumer.ts';

const DONE: Ending = { kind: 'done' };
const PARK: Ending = { kind: 'park', reason: 'It faulted.' };
const RETRY: Ending = { kind: 'retry', reason: 'Not yet.', afterMs: undefined };
const CUT: Ending = { kind: 'interrupted', reason: 'Too late.' };

/** Delivers two events of an entity: the first one with these endings and is then done, the second one is done at once. */
function endingWith(...endings: readonly Ending[]): SimulatedConsumer {
  const left = [...endings];
  const consumer = new SimulatedConsumer({
    settings: {
      ...CONSUMER_SETTINGS_DEFAULT,
      retryPauseMs: 1,
      retryPauseMaxMs: 1,
      attemptsMax: 4,
    },
    random: (limit) => limit - 1,
    next: ({ seq }) => ({ ending: (seq === 1 && left.shift()) || DONE, tookMs: 1 }),
    journal: () => ({ fails: false, tookMs: 1 }),
  });
  consumer.append('a');
  consumer.append('a');
  return consumer;
}

describe('the round of an event', () => {
  test('grows with each verdict, and begins anew with the next event', async () => {
    const consumer = endingWith(RETRY, RETRY, RETRY);
    await consumer.time.advance(10_000);
    expect(consumer.delivered).toEqual(['a 1 1', 'a 1 2', 'a 1 3', 'a 1 4', 'a 2 1']);
    expect(consumer.rounds).toEqual([0, 1, 2, 3, 0]);
  });

  test('stays when the consumer comes to no verdict, although the attempt counts', async () => {
    const consumer = endingWith(CUT, { kind: 'unavailable' }, RETRY, { kind: 'rejected' }, CUT);
    await consumer.time.advance(10_000);
    expect(consumer.delivered.slice(0, 6)).toEqual(
      [1, 2, 2, 3, 3, 4].map((attempt) => `a 1 ${attempt}`),
    );
    expect(consumer.rounds).toEqual([0, 0, 0, 1, 1, 1, 0]);
  });

  test.each<[string, readonly Ending[]]>([
    ['the consumer', [RETRY, PARK]],
    ['attempts that came to no verdict', [RETRY, CUT, CUT, CUT]],
  ])('grows when %s has parked the event, and an operator retries it', async (_what, endings) => {
    const consumer = endingWith(...endings);
    await consumer.time.advance(10_000);
    expect(consumer.lanes).toMatchObject([{ seq: 1, round: 2, nextMs: undefined }]);
    consumer.crash();
    await consumer.time.advance(1000);
    expect(consumer.retry('a')).toBe(true);
    await consumer.time.advance(1000);
    expect(consumer.delivered.slice(-2)).toEqual(['a 1 1', 'a 2 1']);
    expect(consumer.rounds.slice(-2)).toEqual([2, 0]);
  });

  test('of the event after a skipped one is the first', async () => {
    const consumer = endingWith(RETRY, PARK);
    await consumer.time.advance(10_000);
    expect(consumer.skip('a', 1)).toBe(true);
    await consumer.time.advance(1000);
    expect(consumer.delivered.at(-1)).toBe('a 2 1');
    expect(consumer.rounds).toEqual([0, 1, 0]);
  });

  test('is repeated after a crash between the verdict and its storing', async () => {
    const consumer = endingWith({ kind: 'retry', reason: 'Not yet.', afterMs: 0 }, CUT, CUT);
    // The consumer itself is stored, and the next settlement comes no sooner than 100 ms later.
    await consumer.time.advance(20);
    expect(consumer.rounds).toEqual(expect.arrayContaining([0, 1]));
    expect(consumer.lanes).toEqual([]);
    consumer.crash();
    const before = consumer.rounds.length;
    await consumer.time.advance(10_000);
    expect(consumer.rounds[before]).toBe(0);
    expect(consumer.violations).toEqual([]);
  });
});
