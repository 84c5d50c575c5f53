// Writers and operators that change the same timers at the same time, on real servers.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { StoredTimer } from '../../../../../host/engine/needs/timers.ts';
import type { DatabaseSession } from '../../../../../host/storage/postgres/database-session.ts';
import { PostgresTimerReader } from '../../../../../host/storage/postgres/timers/timer-reader.ts';
import type { TimersOfAppend } from '../../../../../host/storage/postgres/timers/timer-changes.ts';
import type { EntityRef } from '../../../../../model/entity.ts';
import { serverVersions } from '../../../../support/postgres/postgres-programs.ts';
import { PostgresServer } from '../../../../support/postgres/postgres-server.ts';
import { TimerDatabase, timerRules } from '../../../../support/postgres/timer-database.ts';
import {
  applied,
  committed,
  loaded,
  ofEntity,
  storedGroup,
} from '../../../../support/postgres/timer-groups.ts';
import { SET_MS, timerAt } from '../../../../support/timer-writes.ts';

const owner: EntityRef = { component: 'Cart', id: 'owner' };
const one: EntityRef = { component: 'Cart', id: 'one' };
const two: EntityRef = { component: 'Cart', id: 'two' };
const retry = { kind: 'retry', nextMs: 9, fault: 'again' } as const;

function fire(by: EntityRef, occurrence: StoredTimer): TimersOfAppend {
  const firing = { occurrence, end: { kind: 'remove' } } as const;
  return ofEntity(by, { firing, changes: [timerAt('effect', 99)] });
}

describe.each(serverVersions())('PostgreSQL %s', (version) => {
  const rules = timerRules();
  let database: TimerDatabase;
  /** Two writers. */
  let first: DatabaseSession;
  let second: DatabaseSession;
  beforeAll(async () => {
    database = await TimerDatabase.open(await PostgresServer.shared(version));
  });
  beforeEach(async () => {
    await database.empty();
    first = await database.connect();
    second = await database.connect();
  });
  afterAll(() => database.end());

  async function set(...names: readonly string[]): Promise<readonly StoredTimer[]> {
    await storedGroup(
      first,
      rules,
      ofEntity(owner, { changes: names.map((name) => timerAt(name, 1)) }),
    );
    return timers();
  }

  async function timers(): Promise<readonly StoredTimer[]> {
    const reader = new PostgresTimerReader(first, () => expect.unreachable());
    const due = await reader.due(SET_MS, 1_000, undefined);
    return Promise.all(due.map(async ({ number }) => (await reader.timer(number))!));
  }

  /** Resolves once a session waits for a lock of another one. */
  async function oneWaits(): Promise<void> {
    for (;;) {
      const [row] = await database.query(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      if (row![0] === 1) return;
    }
  }

  test('of two writers that fire the same occurrence at once, one has it, and the other is refused', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `t${index}`);
    for (const timer of await set(...names)) {
      const codes = await Promise.all([
        storedGroup(first, rules, fire(one, timer)),
        storedGroup(second, rules, fire(two, timer)),
      ]);
      expect(codes.flat().map(String).toSorted()).toEqual(['SVC_TIMER_GONE', 'undefined']);
    }
    // Each effect replaces the one before it, so one or two of them are left.
    const left = await timers();
    expect(new Set(left.map(({ name }) => name))).toEqual(new Set(['effect']));
    expect(await database.counted()).toEqual([left.length, left.length]);
  });

  const waiters: [string, (timer: StoredTimer) => TimersOfAppend][] = [
    ['ends its firing', (timer) => fire(two, timer)],
    ['cancels it', () => ofEntity(owner, { changes: [{ kind: 'cancel', name: 'a' }] })],
    ['replaces it', () => ofEntity(owner, { changes: [timerAt('a', 50)] })],
    ['deletes its owner', () => ofEntity(owner, {}, true)],
  ];
  test.each(waiters)(
    'a firing that waits for a writer that %s is refused if that is stored, and only then',
    async (_, change) => {
      for (const isStored of [false, true]) {
        const timer = (await set('a')).find(({ name }) => name === 'a')!;
        const before = await loaded(first, rules, change(timer));
        expect(applied(before, change(timer))).toEqual([undefined]);
        const firing = fire(one, timer);
        const waiting = loaded(second, rules, firing);
        await oneWaits();
        if (isStored) await committed(first, before);
        else await first.query({ text: 'ROLLBACK' });
        const after = await waiting;
        const [failure] = applied(after, firing);
        expect(failure?.code).toBe(isStored ? 'SVC_TIMER_GONE' : undefined);
        await committed(second, after);
      }
      const [counted, there] = await database.counted();
      expect(counted).toBe(there);
    },
  );

  test('of a writer that fires a timer and an operator who cancels it, the first one has it', async () => {
    const administration = await database.administration();
    for (const timer of await set(...Array.from({ length: 20 }, (_, index) => `t${index}`))) {
      const [codes, isCancelled] = await Promise.all([
        storedGroup(first, rules, fire(one, timer)),
        administration.cancelTimer(owner, timer.name),
      ]);
      expect(codes).toEqual([isCancelled ? 'SVC_TIMER_GONE' : undefined]);
    }
    expect(await database.counted()).toEqual([1, 1]);
  });

  test('writers that fire the same timers in opposite orders do not end in a deadlock in 300 rounds', async () => {
    const due = await set(...Array.from({ length: 12 }, (_, index) => `t${index}`));
    for (let attempts = 0; attempts < 300; attempts++) {
      const firings = due.map((timer) =>
        ofEntity(one, { firing: { occurrence: { ...timer, attempts }, end: retry } }),
      );
      const codes = await Promise.all([
        storedGroup(first, rules, ...firings),
        storedGroup(second, rules, ...firings.toReversed()),
      ]);
      expect(codes.flat().filter((code) => code === 'SVC_TIMER_GONE')).toHaveLength(due.length);
    }
  });

  test('two writers together keep to the limit of all timers', async () => {
    const limited = timerRules({ max: 20, perEntityMax: 5 });
    const filled = async (session: DatabaseSession, by: string): Promise<readonly string[]> => {
      const outcomes: string[] = [];
      for (let round = 0; round < 15; round++) {
        const entity = { component: 'Cart', id: `${by} ${round}` };
        const append = ofEntity(entity, { changes: [timerAt('a', 1)] });
        outcomes.push(...(await storedGroup(session, limited, append)).map(String));
      }
      return outcomes;
    };
    const outcomes = await Promise.all([filled(first, 'first'), filled(second, 'second')]);
    expect(outcomes.flat().toSorted()).toEqual([
      ...Array.from({ length: 10 }, () => 'SVC_TIMERS_FULL'),
      ...Array.from({ length: 20 }, () => 'undefined'),
    ]);
    expect(await database.counted()).toEqual([20, 20]);
  });

  test('a writer that waits while another one takes the last free timer is refused', async () => {
    const limited = timerRules({ max: 1, perEntityMax: 5 });
    const last = ofEntity(one, { changes: [timerAt('a', 1)] });
    const next = ofEntity(two, { changes: [timerAt('a', 1)] });
    const before = await loaded(first, limited, last);
    expect(applied(before, last)).toEqual([undefined]);
    const waiting = loaded(second, limited, next);
    await oneWaits();
    await committed(first, before);
    const after = await waiting;
    expect(applied(after, next)).toMatchObject([{ code: 'SVC_TIMERS_FULL' }]);
    await committed(second, after);
    expect(await database.counted()).toEqual([1, 1]);
  });

  test('of two transactions that add a timer of the same name, the second one is not done, and replaces it when repeated', async () => {
    const [earlier, later] = [timerAt('a', 1), timerAt('a', 2)].map((timer) =>
      ofEntity(owner, { changes: [timer] }),
    );
    const [before, after] = [
      await loaded(first, rules, earlier!),
      await loaded(second, rules, later!),
    ];
    expect([applied(before, earlier!), applied(after, later!)]).toEqual([[undefined], [undefined]]);
    await before.store(first);
    const storing = Promise.allSettled([after.store(second)]);
    await oneWaits();
    await first.query({ text: 'COMMIT' });
    expect(await storing).toMatchObject([
      { status: 'rejected', reason: { outcome: 'not-done', sqlState: '23505' } },
    ]);
    await second.query({ text: 'ROLLBACK' });
    expect(await storedGroup(second, rules, later!)).toEqual([undefined]);
    expect(await timers()).toMatchObject([{ name: 'a', dueMs: 2 }]);
    expect(await database.counted()).toEqual([1, 1]);
  });

  test('writers of different slices with room for more timers do not wait for each other', async () => {
    const before = await loaded(first, rules, ofEntity(one, { changes: [timerAt('a', 1)] }));
    applied(before, ofEntity(one, { changes: [timerAt('a', 1)] }));
    await before.store(first);
    expect(await storedGroup(second, rules, ofEntity(two, { changes: [timerAt('a', 1)] }))).toEqual(
      [undefined],
    );
    await first.query({ text: 'COMMIT' });
    expect(await database.counted()).toEqual([2, 2]);
  });
});
