// Random histories of timers: groups of appends in PostgreSQL do what the appends do one by one in memory.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { StoredTimer, TimerWrites } from '../../../../../host/engine/needs/timers.ts';
import { MemoryTimers } from '../../../../../host/storage/memory/memory-timers.ts';
import type { DatabaseSession } from '../../../../../host/storage/postgres/database-session.ts';
import { PostgresTimerReader } from '../../../../../host/storage/postgres/timers/timer-reader.ts';
import type { ServiceSchedule } from '../../../../../host/storage/timer-administration.ts';
import { Occurrences } from '../../../../../host/schedule/occurrences.ts';
import { Random } from '../../../../support/random.ts';
import { PostgresServer } from '../../../../support/postgres/postgres-server.ts';
import { TimerDatabase, timerRules } from '../../../../support/postgres/timer-database.ts';
import { storedGroup } from '../../../../support/postgres/timer-groups.ts';
import { SET_MS, timerAt } from '../../../../support/timer-writes.ts';

const LIMITS = { max: 7, perEntityMax: 3 };
const STEPS = 40;

let database: TimerDatabase;
beforeAll(async () => {
  database = await TimerDatabase.open(await PostgresServer.shared('18'));
});
beforeEach(() => database.empty());
afterAll(() => database.end());

/** Reads all timers, indexed by owner and name. A damaged one fails the test. */
async function stored(session: DatabaseSession): Promise<ReadonlyMap<string, StoredTimer>> {
  const reader = new PostgresTimerReader(session, () => expect.unreachable());
  const numbers = await session.query({ text: 'SELECT number FROM svc.timer ORDER BY number' });
  const timers = await Promise.all(numbers.map(([number]) => reader.timer(Number(number))));
  return new Map(timers.map((timer) => [keyed(timer!), timer!]));
}

function keyed({ owner, name }: StoredTimer): string {
  return JSON.stringify([owner?.id, name]);
}

/** A timer as the model has it or had it, and its number in the database. */
interface Twin {
  readonly model: StoredTimer;
  readonly number: number;
}

/** What became of the same step in the database and in the model. */
type Outcomes = readonly [real: unknown, model: unknown];

/** A random append: for the database, and for the model. */
function randomAppend(random: Random, twins: readonly Twin[]) {
  const entity = { component: 'Cart', id: random.pick(['a', 'b', 'c']) };
  const changes = Array.from({ length: random.below(4) }, () => {
    const name = random.pick(['x', 'y', 'z', 'w', '']);
    if (random.chance(30)) return { kind: 'cancel', name } as const;
    const due = random.chance(20) ? ({ kind: 'every', everyMs: 500 } as const) : undefined;
    return timerAt(name, random.below(100), due && { due });
  });
  const fired = random.chance(50) ? twins[random.below(twins.length + 1)] : undefined;
  const end = random.pick([
    { kind: 'remove' },
    { kind: 'rearm', dueMs: random.below(100) },
    { kind: 'retry', nextMs: random.below(100), fault: 'again' },
    { kind: 'dead', fault: 'for ever' },
  ] as const);
  const writes = (number: number | undefined): TimerWrites => ({
    changes,
    firing: fired && { occurrence: { ...fired.model, number: number! }, end },
  });
  const isDeleted = random.chance(15);
  return {
    real: { entity, isDeleted, writes: writes(fired?.number) },
    model: { entity, isDeleted, writes: writes(fired?.model.number) },
  };
}

test.each([1, 2, 3, 4])('a random history leaves the same timers (seed %i)', async (seed) => {
  const random = new Random(seed);
  const memory = new MemoryTimers(LIMITS, new Occurrences());
  const session = await database.connect();
  const administration = await database.administration(LIMITS);
  const codes = new Set<string | undefined>();

  async function group(seen: readonly Twin[]): Promise<Outcomes> {
    const appends = Array.from({ length: 1 + random.below(6) }, () => randomAppend(random, seen));
    const model = appends.map(
      ({ model: { entity, isDeleted, writes } }) => memory.apply(entity, isDeleted, writes)?.code,
    );
    for (const code of model) codes.add(code);
    const rules = timerRules(LIMITS);
    return [await storedGroup(session, rules, ...appends.map(({ real }) => real)), model];
  }

  async function reconciled(step: number): Promise<Outcomes> {
    const schedule: ServiceSchedule = {
      id: 'tick',
      target: { component: 'Cart', id: 'a' },
      command: 'tick',
      input: random.chance(50) ? '{}' : String(step),
      schedule: { kind: 'every', everyMs: 1_000 },
    };
    const schedules = random.chance(80) ? [schedule] : [];
    const model = memory.reconcile(schedules, SET_MS)?.code;
    const real = administration.reconcileSchedules(schedules, SET_MS);
    return [
      await real.then(
        () => undefined,
        (error: { readonly code: string }) => error.code,
      ),
      model,
    ];
  }

  async function operated(step: number): Promise<Outcomes> {
    const owner = { component: 'Cart', id: random.pick(['a', 'b']) };
    const model = [memory.retry(owner, 'x', step), memory.named(owner, 'y') !== undefined];
    memory.apply(owner, false, { changes: [{ kind: 'cancel', name: 'y' }] });
    const real = [
      await administration.retryTimer(owner, 'x', step),
      await administration.cancelTimer(owner, 'y'),
    ];
    return [real, model];
  }

  let seen: readonly Twin[] = [];
  for (let step = 0; step < STEPS; step++) {
    const kind = random.below(10);
    const [real, model] =
      kind < 2 ? await reconciled(step) : kind < 4 ? await operated(step) : await group(seen);
    expect(real).toEqual(model);
    const timers = await stored(session);
    const models = memory.all();
    expect(timers.size).toBe(models.length);
    for (const timer of models)
      expect(timers.get(keyed(timer))).toEqual({ ...timer, number: expect.any(Number) as number });
    expect(await database.counted()).toEqual([models.length, models.length]);
    const twins = models.map((timer) => ({
      model: timer,
      number: timers.get(keyed(timer))!.number,
    }));
    // Timers as they were before may be fired as well.
    seen = [...twins, ...seen.slice(0, 20)];
  }
  expect([...codes].map(String).toSorted()).toEqual([
    'SVC_TIMERS_FULL',
    'SVC_TIMER_GONE',
    'undefined',
  ]);
});
