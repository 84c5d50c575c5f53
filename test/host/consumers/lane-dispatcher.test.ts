// The dispatcher of a consumer on a virtual clock: verdicts, retries, parked lanes, limits, and starts.
// lane-dispatcher.long.test.ts runs thousands of random histories, of which a few run here.
import { describe, expect, test } from 'vitest';
import {
  CONSUMER_SETTINGS_DEFAULT,
  type ConsumerSettings,
} from '../../../host/consumers/consumer-settings.ts';
import type { EntityEvent } from '../../../model/entity.ts';
import { runHistory } from '../../support/consumers/consumer-history.ts';
import { SimulatedConsumer, type Ending } from '../../support/consumers/simulated-consumer.ts';

const DONE: Ending = { kind: 'done' };
const PARK: Ending = { kind: 'park', reason: 'It faulted.' };
const RETRY: Ending = { kind: 'retry', reason: 'Not yet.', afterMs: undefined };

interface Options {
  readonly settings?: Partial<ConsumerSettings>;
  readonly start?: 'beginning' | 'now';
  readonly ending?: (event: EntityEvent) => Ending;
  readonly tookMs?: (event: EntityEvent) => number;
  readonly journalFails?: () => boolean;
}

function simulated({ settings, start, ending, tookMs, journalFails }: Options = {}) {
  return new SimulatedConsumer({
    settings: { ...CONSUMER_SETTINGS_DEFAULT, ...settings },
    start: start ?? 'beginning',
    random: (limit) => limit - 1,
    next: (event) => ({ ending: ending?.(event) ?? DONE, tookMs: tookMs?.(event) ?? 1 }),
    // Time that passes lets the other events happen; virtual time waits for a bounded number of them.
    journal: () => ({ fails: journalFails?.() ?? false, tookMs: 1 }),
  });
}

/** Appends events of entities, one each time that an id is named. */
function append(consumer: SimulatedConsumer, ...ids: readonly string[]): void {
  for (const id of ids) consumer.append(id);
}

function parking(...events: readonly string[]) {
  const parked = new Set(events);
  return {
    parked,
    ending: ({ entity, seq }: EntityEvent) => (parked.has(`${entity.id} ${seq}`) ? PARK : DONE),
  };
}

describe('an event', () => {
  test('is delivered once it is stored, with those of its entity in order, and settled', async () => {
    const consumer = simulated();
    await consumer.time.advance(10_000);
    append(consumer, 'a', 'b', 'a', 'a');
    consumer.append('x', 'event', 'other');
    await consumer.time.advance(1000);
    expect(consumer.delivered).toEqual(['a 1 1', 'b 1 1', 'a 2 1', 'a 3 1']);
    expect(consumer.position).toBe(consumer.journal.positions.end());
    expect(consumer.lanes).toEqual([]);
    expect(consumer.dispatcher).toMatchObject({ running: 0, ahead: 0, lanes: 0 });
    expect(consumer.violations).toEqual([]);
  });

  test('carries its entity, number, time and JSON text', async () => {
    const events: EntityEvent[] = [];
    const consumer = simulated({
      ending: (event) => {
        events.push(event);
        return DONE;
      },
    });
    const timeMs = consumer.time.nowMs();
    append(consumer, 'a');
    await consumer.time.advance(100);
    expect(events).toEqual([
      {
        entity: { component: 'account', id: 'a' },
        seq: 1,
        timeMs,
        event: { manifest: 'Moved', json: '{"type":"Moved","n":1}' },
      },
    ]);
  });

  test('that is skipped is settled, and recorded', async () => {
    const consumer = simulated({ ending: () => ({ kind: 'skip', reason: 'Not mine.' }) });
    append(consumer, 'a', 'a');
    await consumer.time.advance(1000);
    expect(consumer.skipped).toEqual(['a 1', 'a 2']);
    expect(consumer.position).toBe('2');
  });

  test('that the runtime cannot deliver is delivered again, and no attempt counts', async () => {
    let failures = 30;
    const consumer = simulated({
      ending: () => (failures-- > 0 ? { kind: failures % 2 ? 'rejected' : 'unavailable' } : DONE),
    });
    append(consumer, 'a');
    await consumer.time.advance(400_000);
    expect(consumer.delivered).toEqual(Array.from({ length: 31 }, () => 'a 1 1'));
    expect(consumer.failures).toHaveLength(15);
    expect(consumer.position).toBe('1');
  });
});

describe('a retry', () => {
  test('comes after a pause that doubles, and the lane is parked after the last attempt', async () => {
    const starts: number[] = [];
    const consumer = simulated({
      ending: () => {
        starts.push(consumer.time.monotonicMs());
        return RETRY;
      },
    });
    append(consumer, 'a');
    await consumer.time.advance(3_600_000);
    expect(consumer.delivered).toEqual(Array.from({ length: 10 }, (_, n) => `a 1 ${n + 1}`));
    const pauses = starts.slice(1).map((ms, index) => ms - starts[index]!);
    // The greatest random number gives nearly the greatest remainder; at most the limit, and one attempt of 1 ms.
    for (const [index, pause] of pauses.entries())
      expect(pause).toBeLessThanOrEqual(Math.min(1000 * 2 ** index, 300_000) + 1);
    expect(consumer.lanes).toMatchObject([{ seq: 1, attempts: 10, nextMs: undefined }]);
    expect(consumer.dispatcher.parked).toBe(1);
  });

  test('waits as long as the consumer asks, also through a crash, and counts on', async () => {
    let isReady = false;
    const consumer = simulated({
      ending: () => (isReady ? DONE : { kind: 'retry', reason: 'Later.', afterMs: 60_000 }),
    });
    append(consumer, 'a', 'a');
    await consumer.time.advance(30_000);
    expect(consumer.lanes).toMatchObject([{ seq: 1, attempts: 1, reason: 'Later.' }]);
    expect(consumer.position).toBe('2');
    consumer.crash();
    isReady = true;
    await consumer.time.advance(29_000);
    expect(consumer.delivered).toEqual(['a 1 1']);
    await consumer.time.advance(2000);
    expect(consumer.delivered).toEqual(['a 1 1', 'a 1 2', 'a 2 1']);
    expect(consumer.lanes).toEqual([]);
  });

  test('is on time when the wall clock is set back', async () => {
    let isReady = false;
    const consumer = simulated({ ending: () => (isReady ? DONE : RETRY) });
    append(consumer, 'a');
    await consumer.time.advance(1);
    isReady = true;
    consumer.time.jump(-86_400_000);
    await consumer.time.advance(1100);
    expect(consumer.position).toBe('1');
  });
});

describe('a lane that waits', () => {
  test('keeps its attempts when a deletion comes before its event', async () => {
    let isFirst = true;
    const consumer = simulated({
      ending: ({ seq }) => {
        if (seq !== 3 || !isFirst) return DONE;
        isFirst = false;
        return RETRY;
      },
    });
    append(consumer, 'a');
    consumer.append('a', 'deleted');
    append(consumer, 'a');
    await consumer.time.advance(10_000);
    expect(consumer.delivered).toEqual(['a 1 1', 'a 3 1', 'a 3 2']);
  });

  test('counts with the parked ones: with too many of both, nothing more is read', async () => {
    let isReady = false;
    const consumer = simulated({
      settings: { parkedMax: 150, aheadMax: 100 },
      ending: () => (isReady ? DONE : { kind: 'retry', reason: 'Away.', afterMs: 60_000 }),
    });
    append(consumer, ...Array.from({ length: 1000 }, (_, n) => `e${n}`));
    await consumer.time.advance(10_000);
    expect(consumer.delivered.length).toBeLessThan(500);
    expect(consumer.dispatcher.failure).toMatchObject({ code: 'SVC_CONSUMER_STALLED' });
    expect(consumer.failures).toHaveLength(1);
    isReady = true;
    await consumer.time.advance(600_000);
    expect(consumer.settled.size).toBe(1000);
    expect(consumer.position).toBe('1000');
    expect(consumer.dispatcher.failure).toBeUndefined();
  });
});

describe('a parked lane', () => {
  test('keeps the later events of its entity in the journal, and no other entity waits', async () => {
    const { ending } = parking('a 2');
    const consumer = simulated({ ending, settings: { aheadMax: 100 } });
    append(consumer, 'a', 'a', 'a');
    for (let n = 0; n < 500; n += 1) append(consumer, 'a', `b${n}`);
    await consumer.time.advance(10_000);
    expect(consumer.delivered.filter((text) => text.startsWith('a'))).toEqual(['a 1 1', 'a 2 1']);
    expect(consumer.delivered).toHaveLength(502);
    expect(consumer.lanes).toMatchObject([{ seq: 2, nextMs: undefined, reason: 'It faulted.' }]);
    expect(consumer.position).toBe('1003');
    expect(consumer.dispatcher).toMatchObject({ ahead: 0, lanes: 1, parked: 1 });
  });

  test.each(['retried', 'skipped'])('that is %s catches up, and rejoins', async (how) => {
    const { parked, ending } = parking('a 2');
    const consumer = simulated({ ending });
    for (let n = 0; n < 50; n += 1) append(consumer, 'a');
    consumer.append('a', 'deleted');
    await consumer.time.advance(1000);
    consumer.crash();
    await consumer.time.advance(1000);
    expect(consumer.delivered).toEqual(['a 1 1', 'a 2 1']);
    if (how === 'retried') parked.clear();
    const act = () => (how === 'retried' ? consumer.retry('a') : consumer.skip('a', 2));
    expect(act()).toBe(true);
    expect(act()).toBe(false);
    append(consumer, 'a');
    await consumer.time.advance(1000);
    append(consumer, 'a');
    await consumer.time.advance(1000);
    const seqs = consumer.delivered.slice(2).map((text) => Number(text.split(' ')[1]));
    const first = how === 'retried' ? 2 : 3;
    const events = Array.from({ length: 51 - first }, (_, index) => first + index);
    expect(seqs).toEqual([...events, 52, 53]);
    expect(consumer.skipped).toEqual(how === 'retried' ? [] : ['a 2']);
    expect(consumer.lanes).toEqual([]);
    expect(consumer.dispatcher).toMatchObject({ lanes: 0, parked: 0 });
    expect(consumer.position).toBe('53');
    expect(consumer.violations).toEqual([]);
  });

  test('misses no event that is stored while it rejoins', async () => {
    const { ending } = parking('a 1');
    const consumer = simulated({ ending });
    append(consumer, 'a');
    await consumer.time.advance(1000);
    consumer.crash();
    await consumer.time.advance(1000);
    expect(consumer.skip('a', 1)).toBe(true);
    // The journal has been read, and its answer, that there is nothing more, is on the way.
    await consumer.time.advance(1);
    append(consumer, 'a');
    await consumer.time.advance(1000);
    expect(consumer.delivered).toEqual(['a 1 1', 'a 2 1']);
    expect(consumer.dispatcher.lanes).toBe(0);
    expect(consumer.violations).toEqual([]);
  });

  test('is skipped only at the event that is named', async () => {
    const { ending } = parking('a 2', 'a 3');
    const consumer = simulated({ ending });
    append(consumer, 'a', 'a', 'a', 'a');
    await consumer.time.advance(1000);
    expect([consumer.skip('a', 1), consumer.skip('a', 3), consumer.skip('b', 1)]).toEqual([
      false,
      false,
      false,
    ]);
    expect(consumer.skip('a', 2)).toBe(true);
    await consumer.time.advance(1000);
    expect(consumer.skip('a', 2)).toBe(false);
    expect(consumer.lanes).toMatchObject([{ seq: 3 }]);
  });

  test('has a reason of limited length that can be stored', async () => {
    const reason = `${'x'.repeat(999)}😀${'y'.repeat(1_000_000)}`;
    const consumer = simulated({ ending: () => ({ kind: 'park', reason }) });
    append(consumer, 'a');
    await consumer.time.advance(1000);
    expect(consumer.lanes[0]?.reason).toBe(`${'x'.repeat(999)}\uFFFD`);
  });
});

describe('too many parked lanes', () => {
  test('stop the consumer until fewer are parked', async () => {
    let faults = true;
    const consumer = simulated({
      settings: { parkedMax: 3, inFlight: 1 },
      ending: () => (faults ? PARK : DONE),
    });
    append(consumer, ...Array.from({ length: 10 }, (_, n) => `e${n}`));
    await consumer.time.advance(10_000);
    expect(consumer.dispatcher.parked).toBe(4);
    expect(consumer.dispatcher.failure).toMatchObject({ code: 'SVC_CONSUMER_STALLED' });
    expect(consumer.failures).toMatchObject([{ code: 'SVC_CONSUMER_STALLED' }]);
    expect(consumer.failures[0]).toHaveProperty('message', expect.stringContaining("'ledger'"));
    expect(consumer.delivered).toHaveLength(4);
    consumer.crash();
    await consumer.time.advance(10_000);
    expect(consumer.delivered).toHaveLength(4);
    faults = false;
    for (let n = 0; n < 4; n += 1) expect(consumer.retry(`e${n}`)).toBe(true);
    await consumer.time.advance(10_000);
    expect(consumer.dispatcher.failure).toBeUndefined();
    expect(consumer.settled.size).toBe(10);
    expect(consumer.position).toBe('10');
  });
});

describe('limits', () => {
  test('hold while one event takes long: the others go on up to the limit of those read ahead', async () => {
    const consumer = simulated({
      settings: { aheadMax: 300, inFlight: 4 },
      tookMs: ({ entity }) => (entity.id === 'slow' ? 600_000 : 1),
    });
    append(consumer, 'slow', ...Array.from({ length: 1000 }, (_, n) => `e${n}`));
    await consumer.time.advance(300_000, () => consumer.check());
    expect(consumer.delivered).toHaveLength(300);
    expect(consumer.dispatcher.ahead).toBe(300);
    expect(consumer.position).toBe('0');
    await consumer.time.advance(400_000, () => consumer.check());
    expect(consumer.position).toBe('1001');
    expect(consumer.violations).toEqual([]);
  });

  test('bound the text of the events that are read ahead', async () => {
    const consumer = simulated({
      settings: { aheadUnitsMax: 1 },
      tookMs: () => 1000,
    });
    append(consumer, ...Array.from({ length: 250 }, (_, n) => `e${n}`));
    await consumer.time.advance(500);
    expect(consumer.dispatcher.ahead).toBe(100);
    await consumer.time.advance(20_000);
    expect(consumer.position).toBe('250');
  });

  test('the position is written at most ten times a second', async () => {
    const consumer = simulated({ settings: { inFlight: 1 }, tookMs: () => 7 });
    for (let n = 0; n < 100; n += 1) {
      append(consumer, `e${n}`);
      // oxlint-disable-next-line no-await-in-loop -- an event after the other
      await consumer.time.advance(10);
    }
    expect(consumer.writes).toBeGreaterThan(5);
    expect(consumer.writes).toBeLessThanOrEqual(11);
    expect(consumer.violations).toEqual([]);
  });
});

describe('a start', () => {
  test('from now on gives the events after the first start, also those of a crash', async () => {
    const consumer = simulated({ start: 'now' });
    // The position is taken when the dispatcher starts, before the first event.
    await consumer.time.advance(1000);
    expect(consumer.position).toBe('0');
    append(consumer, 'a');
    await consumer.time.advance(1000);
    consumer.crash();
    append(consumer, 'a');
    await consumer.time.advance(1000);
    expect(consumer.delivered).toEqual(['a 1 1', 'a 2 1']);
  });

  test('waits until the journal can be read', async () => {
    let fails = true;
    const consumer = simulated({ journalFails: () => fails });
    append(consumer, 'a');
    await consumer.time.advance(5000);
    expect(consumer.failures.length).toBeGreaterThan(2);
    fails = false;
    await consumer.time.advance(2000);
    expect(consumer.delivered).toEqual(['a 1 1']);
  });

  test('after a stop delivers nothing again that was settled', async () => {
    const consumer = simulated();
    append(consumer, 'a', 'b');
    await consumer.time.advance(10);
    const stopped = consumer.dispatcher.stop(1000);
    await consumer.time.advance(2000);
    expect(await stopped).toBe(0);
    expect(consumer.position).toBe('2');
    consumer.crash();
    append(consumer, 'b');
    await consumer.time.advance(1000);
    expect(consumer.delivered).toEqual(['a 1 1', 'b 1 1', 'b 2 1']);
  });
});

test('random histories with crashes keep every promise', async () => {
  const found: string[] = [];
  const counts = { delivered: 0, parked: 0, crashes: 0 };
  for (let seed = 0; seed < 60; seed += 1) {
    // oxlint-disable-next-line no-await-in-loop -- the memory of one history at a time
    const { violations, delivered, parked, crashes } = await runHistory(seed, 40);
    found.push(...violations.map((violation) => `seed ${seed}: ${violation}`));
    counts.delivered += delivered;
    counts.parked += parked;
    counts.crashes += crashes;
  }
  expect(found).toEqual([]);
  expect(counts.delivered).toBeGreaterThan(5000);
  expect(counts.parked).toBeGreaterThan(50);
  expect(counts.crashes).toBeGreaterThan(50);
});
