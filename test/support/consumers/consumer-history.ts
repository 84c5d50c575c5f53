// ConsumerHistory: a random history of events, verdicts, faults, crashes and operators, from a seed. It ends in a quiet time
// in which the dispatcher has to settle everything but the events that are never handled.
import {
  CONSUMER_SETTINGS_DEFAULT,
  type ConsumerSettings,
} from '../../../host/consumers/consumer-settings.ts';
import { randomOf } from '../timers/timer-history.ts';
import { SimulatedConsumer, type Ending } from './simulated-consumer.ts';

const SECOND = 1000;
const HOUR = 3600 * SECOND;

export interface HistoryResult {
  readonly violations: readonly string[];
  readonly delivered: number;
  readonly parked: number;
  readonly crashes: number;
}

type Pick = <T>(...values: readonly T[]) => T;

function settingsOf(pick: Pick): ConsumerSettings {
  return {
    ...CONSUMER_SETTINGS_DEFAULT,
    inFlight: pick(1, 2, 8, 64),
    aheadMax: pick(1, 10, 150, 10_000),
    aheadUnitsMax: pick(100, 16_777_216),
    parkedMax: pick(3, 5, 100_000),
    attemptsMax: pick(1, 2, 10),
    retryPauseMaxMs: 20 * SECOND,
  };
}

/** Runs the history of a seed with a number of actions. */
export async function runHistory(seed: number, actions: number): Promise<HistoryResult> {
  const random = randomOf(seed);
  const pick: Pick = (...values) => values[random(values.length)]!;
  const settings = settingsOf(pick);
  const entities = 1 + random(pick(3, 10, 60));
  const failsOften = pick(true, false);
  const journalFails = pick(true, false);
  let isQuiet = false;
  /** Entities whose second event is never handled. */
  const poisoned = new Set(['e0', 'e1']);
  const ending = (id: string, seq: number): Ending => {
    if (seq === 2 && poisoned.has(id)) return { kind: 'park', reason: 'It faulted.' };
    if (isQuiet || random(failsOften ? 2 : 20) > 0) return { kind: 'done' };
    const reason = 'Not yet.';
    return pick<Ending>(
      { kind: 'retry', reason, afterMs: undefined },
      { kind: 'retry', reason, afterMs: random(5 * SECOND) },
      { kind: 'skip', reason },
      { kind: 'park', reason },
      { kind: 'interrupted', reason },
      { kind: 'unavailable' },
      { kind: 'rejected' },
    );
  };
  const consumer = new SimulatedConsumer({
    settings,
    random,
    next: ({ entity, seq }) => ({
      ending: ending(entity.id, seq),
      tookMs: isQuiet ? 1 : pick(0, 1, 5, 50, random(10) === 0 ? 20 * SECOND : 3),
    }),
    journal: () => ({
      fails: !isQuiet && journalFails && random(15) === 0,
      tookMs: pick(0, 1, 1, 2, 20),
    }),
  });
  const check = () => consumer.check();
  const anyId = () => `e${random(entities)}`;
  let [crashes, parked] = [0, 0];
  for (let action = 0; action < actions; action += 1) {
    const kind = random(20);
    if (kind < 10) for (let n = random(pick(2, 30)); n >= 0; n -= 1) consumer.append(anyId());
    else if (kind === 10) consumer.append(anyId(), 'deleted');
    else if (kind === 11) consumer.append(anyId(), 'event', 'other');
    else if (kind < 14) consumer.retry(anyId());
    else if (kind === 14) {
      const { entity, seq } = pick(...consumer.lanes) ?? {};
      if (entity !== undefined && !poisoned.has(entity.id))
        consumer.skip(entity.id, seq + random(2));
    } else if (kind === 15) consumer.time.jump(pick(-HOUR, HOUR, -3 * SECOND));
    else if (kind === 16) {
      crashes += 1;
      parked = Math.max(parked, consumer.dispatcher.parked);
      consumer.crash();
    }
    // oxlint-disable-next-line no-await-in-loop -- an action follows the other
    await consumer.time.advance(random(pick(10, 500, 10 * SECOND)), check);
  }
  isQuiet = true;
  // After a start the wall clock says how long stored lanes rest; it may have been set back.
  consumer.time.jump(actions * HOUR);
  consumer.crash();
  await quiet(consumer, entities, check);
  const found = [...consumer.violations, ...endOf(consumer, entities, poisoned)];
  poisoned.clear();
  await quiet(consumer, entities, check);
  found.push(...endOf(consumer, entities, poisoned));
  if ((await consumer.dispatcher.stop(0)) > 0) found.push('a lane did not end');
  return { violations: found, delivered: consumer.delivered.length, parked, crashes };
}

/** Lets operators retry what is parked until nothing changes. */
async function quiet(consumer: SimulatedConsumer, entities: number, check: () => void) {
  for (let round = 0; round < 20; round += 1) {
    for (let n = 0; n < entities; n += 1) consumer.retry(`e${n}`);
    // oxlint-disable-next-line no-await-in-loop -- a round follows the other
    await consumer.time.advance(30 * SECOND, check);
  }
}

function endOf(consumer: SimulatedConsumer, entities: number, poisoned: ReadonlySet<string>) {
  const found: string[] = [];
  const stuck = new Map<string, number>();
  for (let n = 0; n < entities; n += 1) {
    const id = `e${n}`;
    const [first] = consumer.unsettled(id);
    if (first === undefined) continue;
    if (poisoned.has(id) && first === 2) stuck.set(id, first);
    else found.push(`${id} ${first} was not settled`);
  }
  const lanes = new Map(consumer.lanes.map(({ entity, seq }) => [entity.id, seq]));
  for (const [id, seq] of stuck)
    if (lanes.get(id) !== seq) found.push(`${id} is not parked at ${seq}`);
  for (const id of lanes.keys()) if (!stuck.has(id)) found.push(`${id} has a lane`);
  if (consumer.position !== consumer.journal.positions.end())
    found.push(`the position ${consumer.position} is not the end`);
  if (consumer.dispatcher.lanes !== stuck.size)
    found.push(`${consumer.dispatcher.lanes} lanes are in memory instead of ${stuck.size}`);
  return found;
}
