// What operators, and a host that starts, do with timers in PostgreSQL while others do the same, or the database fails.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { DatabaseFailure } from '../../../../../host/storage/postgres/database-failure.ts';
import type { DatabaseSession } from '../../../../../host/storage/postgres/database-session.ts';
import { PostgresTimerAdministration } from '../../../../../host/storage/postgres/timers/timer-administration.ts';
import type { ServiceSchedule } from '../../../../../host/storage/timer-administration.ts';
import type { EntityRef } from '../../../../../model/entity.ts';
import { PostgresServer } from '../../../../support/postgres/postgres-server.ts';
import { TimerDatabase, timerRules } from '../../../../support/postgres/timer-database.ts';
import { ofEntity, storedGroup, watched } from '../../../../support/postgres/timer-groups.ts';
import { SET_MS, timerAt } from '../../../../support/timer-writes.ts';

const one: EntityRef = { component: 'Cart', id: 'one' };

let database: TimerDatabase;
let session: DatabaseSession;
beforeAll(async () => {
  database = await TimerDatabase.open(await PostgresServer.shared('18'));
});
beforeEach(async () => {
  await database.empty();
  session = await database.connect();
});
afterAll(() => database.end());

function schedule(id: string, input = '{}'): ServiceSchedule {
  return {
    id,
    target: one,
    command: 'tick',
    input,
    schedule: { kind: 'every', everyMs: 1_000 },
  };
}

/** Operators whose connection fails as `failure` says when a statement is sent. */
function failing(failure: (text: string) => DatabaseFailure | undefined) {
  const wrapped = watched(session, ({ text }) => {
    const error = failure(text);
    if (error !== undefined) throw error;
  });
  return new PostgresTimerAdministration({
    withSession: (use) => use(wrapped),
    rules: timerRules(),
    fence: async () => {},
    onStored: () => {},
  });
}

test('hosts that start at the same time make each schedule once, in whatever order they list them', async () => {
  const schedules = Array.from({ length: 8 }, (_, index) => schedule(`s${index}`));
  const hosts = await Promise.all([1, 2, 3].map(() => database.administration()));
  for (let round = 0; round < 20; round++) {
    const wanted = schedules.map(({ id }) => schedule(id, String(round)));
    await Promise.all(
      hosts.map((host, index) =>
        host.reconcileSchedules(index === 1 ? wanted.toReversed() : wanted, SET_MS),
      ),
    );
    const stored = await database.query('SELECT name, input FROM svc.timer ORDER BY name');
    expect(stored).toEqual(schedules.map(({ id }) => [id, String(round)]));
    expect(await database.counted()).toEqual([8, 8]);
    if (round % 3 === 0) await hosts[0]!.reconcileSchedules([], SET_MS);
  }
});

test('a damaged schedule is set again, and a damaged timer is not retried', async () => {
  const administration = await database.administration();
  await administration.reconcileSchedules([schedule('a')], SET_MS);
  await database.query("UPDATE svc.timer SET input = 'x'");
  await expect(administration.retryTimer(undefined, 'a', SET_MS)).rejects.toMatchObject({
    code: 'SVC_JOURNAL_CORRUPT',
  });
  await administration.reconcileSchedules([schedule('a')], SET_MS);
  expect(await database.query('SELECT input FROM svc.timer')).toEqual([['{}']]);
  await administration.reconcileSchedules([], SET_MS);
  expect(await database.counted()).toEqual([0, 0]);
});

test('each change reports when the earliest timer is fired that it has stored', async () => {
  const earliestMs: number[] = [];
  const administration = await database.administration(undefined, earliestMs);
  await storedGroup(session, timerRules(), ofEntity(one, { changes: [timerAt('a', 1)] }));
  await administration.reconcileSchedules([schedule('s')], SET_MS);
  await administration.cancelTimer(one, 'a');
  await administration.retryTimer(undefined, 's', SET_MS);
  expect(earliestMs).toEqual([SET_MS + 1_000, Infinity, Infinity]);
});

test('names that PostgreSQL cannot keep are of no timer, and no schedule has one', async () => {
  const administration = await database.administration();
  for (const name of ['\0', '\ud800']) {
    const odd = { component: 'Cart', id: name };
    expect(await administration.cancelTimer(one, name)).toBe(false);
    expect(await administration.cancelTimer(odd, 'a')).toBe(false);
    expect(await administration.retryTimer(undefined, name, 1)).toBe(false);
    expect(await administration.retryTimer(odd, 'a', 1)).toBe(false);
    await expect(administration.reconcileSchedules([schedule(name)], 1)).rejects.toMatchObject({
      code: 'SVC_TIMER_INVALID',
    });
  }
  expect(await database.counted()).toEqual([0, 0]);
});

test.each(['40P01', '40001', '23505'])(
  'a change that the database ends because of another one (%s) is repeated, and not for ever',
  async (sqlState) => {
    let left = 3;
    const failure = new DatabaseFailure('it was in the way', { outcome: 'not-done', sqlState });
    const passing = failing((text) =>
      text === 'COMMIT' || text.startsWith('INSERT')
        ? left-- > 0
          ? failure
          : undefined
        : undefined,
    );
    await passing.reconcileSchedules([schedule('a')], SET_MS);
    expect(await database.counted()).toEqual([1, 1]);
    let tries = 0;
    const never = failing((text) => {
      if (!text.startsWith('BEGIN')) return undefined;
      tries++;
      return failure;
    });
    await expect(never.cancelTimer(undefined, 'a')).rejects.toMatchObject({
      code: 'SVC_JOURNAL_UNAVAILABLE',
    });
    expect(tries).toBe(10);
  },
);

test('a connection that is lost in the commit leaves the change unknown, and before it nothing is changed', async () => {
  const administration = await database.administration();
  await administration.reconcileSchedules([schedule('a')], SET_MS);
  const lost = new DatabaseFailure('the connection ended', { outcome: 'unknown' });
  for (const [statement, code] of [
    [/^COMMIT/, 'SVC_CALL_UNCERTAIN'],
    [/^BEGIN/, 'SVC_JOURNAL_UNAVAILABLE'],
    [/DELETE/, 'SVC_JOURNAL_UNAVAILABLE'],
  ] as const) {
    const cut = failing((text) => (statement.test(text) ? lost : undefined));
    await expect(cut.cancelTimer(undefined, 'a')).rejects.toMatchObject({ code });
    await session.query({ text: 'ROLLBACK' });
  }
  expect(await database.counted()).toEqual([1, 1]);
  session.abort();
  await session.ended;
  await expect(failing(() => undefined).cancelTimer(undefined, 'a')).rejects.toMatchObject({
    code: 'SVC_JOURNAL_UNAVAILABLE',
  });
});
