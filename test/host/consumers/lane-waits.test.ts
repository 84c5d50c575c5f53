// Lanes that wait, of which no other lane takes notice: because the runtime cannot deliver their event, because they are tried
// again, or because they are slow.
import { describe, expect, test } from 'vitest';
import {
  CONSUMER_SETTINGS_DEFAULT,
  type ConsumerSettings,
} from '../../../host/consumers/consumer-settings.ts';
import type { EntityEvent } from '../../../model/entity.ts';
import { SimulatedConsumer, type Ending } from '../../support/consumers/simulated-consumer.ts';

const DONE: Ending = { kind: 'done' };
const RETRY = { kind: 'retry', reason: 'Not yet.', afterMs: undefined } as const;

interface Options {
  readonly settings?: Partial<ConsumerSettings>;
  readonly ending?: (event: EntityEvent) => Ending;
  readonly tookMs?: (event: EntityEvent) => number;
  readonly journalFails?: () => boolean;
  readonly journalMs?: number;
}

function simulated(options: Options): SimulatedConsumer {
  const { settings, ending, tookMs, journalFails, journalMs = 1 } = options;
  return new SimulatedConsumer({
    settings: { ...CONSUMER_SETTINGS_DEFAULT, ...settings },
    random: (limit) => limit - 1,
    next: (event) => ({ ending: ending?.(event) ?? DONE, tookMs: tookMs?.(event) ?? 1 }),
    journal: () => ({ fails: journalFails?.() ?? false, tookMs: journalMs }),
  });
}

/** Appends events of entities, one each time that an id is named. */
function append(consumer: SimulatedConsumer, ...ids: readonly string[]): void {
  for (const id of ids) consumer.append(id);
}

/** Delivers no event of the entity `poison` until it is healed. */
function withPoison(settings: Partial<ConsumerSettings> = {}) {
  let isHealed = false;
  const consumer = simulated({
    settings,
    ending: ({ entity }) => (entity.id === 'poison' && !isHealed ? { kind: 'unavailable' } : DONE),
  });
  return { consumer, heal: () => (isHealed = true) };
}

describe('an entity whose event the runtime never delivers', () => {
  test.each([1, 100])('holds up no other, with ahead-max %i', async (aheadMax) => {
    const { consumer, heal } = withPoison({ aheadMax });
    append(consumer, 'poison', 'poison', ...Array.from({ length: 300 }, (_, n) => `e${n}`));
    await consumer.time.advance(20_000);
    expect(consumer.settled.size).toBe(300);
    expect(consumer.position).toBe('302');
    expect(consumer.lanes).toMatchObject([{ seq: 1, attempts: 0, round: 0, reason: undefined }]);
    heal();
    await consumer.time.advance(20_000);
    expect(consumer.settled.size).toBe(302);
    expect(consumer.lanes).toEqual([]);
    expect(new Set(consumer.rounds)).toEqual(new Set([0]));
    expect(consumer.violations).toEqual([]);
  });

  test('has no row after one failure', async () => {
    const { consumer, heal } = withPoison();
    append(consumer, 'poison');
    await consumer.time.advance(90);
    heal();
    await consumer.time.advance(1000);
    expect(consumer.delivered).toEqual(['poison 1 1', 'poison 1 1']);
    expect(consumer.writes).toBe(2);
    expect(consumer.position).toBe('1');
  });

  test('gets no row while a thousand others have one: the runtime is away', async () => {
    let isAway = true;
    const consumer = simulated({ ending: () => (isAway ? { kind: 'unavailable' } : DONE) });
    append(consumer, ...Array.from({ length: 3000 }, (_, n) => `e${n}`));
    await consumer.time.advance(30_000);
    expect(consumer.lanes).toHaveLength(1000);
    isAway = false;
    await consumer.time.advance(30_000);
    expect(consumer.settled.size).toBe(3000);
    expect(consumer.lanes).toEqual([]);
    expect(consumer.dispatcher.lanes).toBe(0);
    expect(consumer.violations).toEqual([]);
  });
});

describe('a lane that waits', () => {
  test('keeps its attempts when the feed has not read its event yet', async () => {
    const retries = new Map<string, Ending>([
      ['a 1', { ...RETRY, afterMs: 60_000 }],
      ['a 2', { ...RETRY, afterMs: 5_000 }],
    ]);
    let failures = 0;
    const consumer = simulated({
      settings: { aheadMax: 2 },
      ending: ({ entity, seq }) => {
        const ending = retries.get(`${entity.id} ${seq}`) ?? DONE;
        retries.delete(`${entity.id} ${seq}`);
        return ending;
      },
      tookMs: ({ entity }) => (entity.id === 'slow' ? 600_000 : 1),
      journalFails: () => failures-- > 0,
    });
    append(consumer, 'slow', 'a');
    await consumer.time.advance(1000);
    append(consumer, 'a');
    consumer.time.jump(3_600_000);
    failures = 1;
    // The feed fails once. Meanwhile the lane reads its second event from the journal, which the feed cannot read behind the slow one.
    consumer.crash();
    await consumer.time.advance(20_000);
    expect(consumer.delivered.filter((text) => text.startsWith('a'))).toEqual([
      'a 1 1',
      'a 1 2',
      'a 2 1',
      'a 2 2',
    ]);
    expect(consumer.violations).toEqual([]);
  });

  test('does not count as parked: others are read while more wait than may be parked', async () => {
    const consumer = simulated({
      settings: { parkedMax: 2 },
      ending: ({ entity }) =>
        entity.id < 'd' ? { kind: 'retry', reason: 'Away.', afterMs: 60_000 } : DONE,
    });
    append(consumer, 'a', 'b', 'c');
    await consumer.time.advance(1000);
    expect(consumer.dispatcher).toMatchObject({ retrying: 3, failure: undefined });
    append(consumer, 'd');
    await consumer.time.advance(1000);
    expect(consumer.delivered).toContain('d 1 1');
  });
});

test('the events after a slow one are read as the events before it are settled', async () => {
  const consumer = simulated({
    settings: { aheadMax: 8 },
    tookMs: ({ entity }) => (entity.id === 'slow' ? 60_000 : 1),
  });
  append(consumer, ...Array.from({ length: 7 }, (_, n) => `a${n}`), 'slow');
  for (let n = 0; n < 100; n++) append(consumer, `b${n}`);
  await consumer.time.advance(30_000);
  // The page of the slow event is not settled, and six more events fit.
  expect(consumer.settled.size).toBe(7 + 6);
});

test('the grace of a stop includes the time that a blocked event loop takes to end the present sleep', async () => {
  const consumer = simulated({ tookMs: () => 60_000 });
  append(consumer, 'a');
  await consumer.time.advance(500);
  consumer.isBlocked = true;
  let left: number | undefined;
  void consumer.dispatcher.stop(2000).then((lanes) => (left = lanes));
  await consumer.time.advance(2001);
  expect(left).toBe(1);
});

test('a stop waits for a journal that does not say where the consumer is no longer than it is allowed to', async () => {
  const consumer = simulated({ journalMs: 60_000 });
  append(consumer, 'a');
  let left: number | undefined;
  void consumer.dispatcher.stop(2000).then((lanes) => (left = lanes));
  await consumer.time.advance(1999);
  expect(left).toBeUndefined();
  await consumer.time.advance(1);
  expect(left).toBe(0);
  await consumer.time.advance(200_000);
  expect([consumer.position, consumer.delivered, consumer.failures]).toEqual([undefined, [], []]);
});

test('a stop ends with the answer of where the consumer is', async () => {
  const consumer = simulated({ journalMs: 100 });
  const stopped = consumer.dispatcher.stop(1_000_000);
  await consumer.time.advance(1000);
  expect(await stopped).toBe(0);
});
