// A node whose slices another one has taken stores nothing any more, and what it has stored before is seen by the other one.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Journal } from '../../../../host/engine/needs/journal.ts';
import { ConsumerSettlements } from '../../../../host/storage/postgres/consumers/consumer-settlements.ts';
import { FollowingSession } from '../../../../host/storage/postgres/following-session.ts';
import { nodeFence } from '../../../../host/storage/postgres/nodes/node-fence.ts';
import { NodeMembership } from '../../../../host/storage/postgres/nodes/node-membership.ts';
import { JournalSeries } from '../../../../host/storage/journal-series.ts';
import { openPostgresJournal } from '../../../../host/storage/postgres/opened-postgres.ts';
import { PostgresTimerAdministration } from '../../../../host/storage/postgres/timers/timer-administration.ts';
import type { EntityRef } from '../../../../model/entity.ts';
import { sliceOf } from '../../../../model/slice.ts';
import { TIMER_LIMITS_DEFAULT } from '../../../../model/timer-limits.ts';
import { append, recordOf } from '../../../suites/journal-suite.ts';
import { HeldCommits } from '../../../support/postgres/held-commits.ts';
import { JournalDatabase, testNode } from '../../../support/postgres/journal-database.ts';
import { PostgresServer } from '../../../support/postgres/postgres-server.ts';
import { timerRules } from '../../../support/postgres/timer-database.ts';

const one: EntityRef = { component: 'Cart', id: 'one' };
const two: EntityRef = { component: 'Cart', id: 'two' };

/** Number of a node that has not joined as others do. */
const OTHER = 1_000_000;

let journals: JournalDatabase;
let held: HeldCommits;
const opened: Journal[] = [];

beforeAll(async () => {
  const server = await PostgresServer.shared('18');
  journals = await JournalDatabase.make(server);
  held = await HeldCommits.of(server, journals);
});
afterAll(async () => {
  await held.close();
  await journals.database.end();
});
beforeEach(async () => {
  await journals.empty();
});
afterEach(async () => {
  await held.release();
  await Promise.all(opened.splice(0).map((journal) => journal.close()));
});

function membership(name: string): NodeMembership {
  return new NodeMembership(testNode(name), 'test');
}

const numberOfNode = () => journals.tableOf('node').self;

function attach(node: string): Journal {
  const journal = journals.attach({ node });
  opened.push(journal);
  return journal;
}

test('a node that takes over while a write is committed waits for it, and reads it', async () => {
  const owner = attach('node');
  expect(await append(owner, one, recordOf(1))).toBeUndefined();
  await held.hold();
  const writing = append(owner, one, recordOf(2));
  await held.waiting();
  await journals.expire('node');
  const order: string[] = [];
  const joining = journals.join('other').then(() => order.push('joined'));
  // All slices are taken but the one of the write.
  await expect.poll(() => slicesWithoutNode()).toBe(1);
  expect(order).toEqual([]);
  await held.release();
  await joining;
  expect(await writing).toBeUndefined();
  const next = attach('other');
  expect(await next.read(one, 0, 10)).toEqual([recordOf(1), recordOf(2)]);
});

/** Counts the slices whose owner is no node any more. */
function slicesWithoutNode(): Promise<number> {
  return journals.number(
    'SELECT count(*) FROM svc.slice s LEFT JOIN svc.node n ON n.number = s.owner WHERE n.number IS NULL',
  );
}

test('a write that comes after a takeover stores nothing, and what is stored can still be read', async () => {
  const owner = attach('node');
  expect(await append(owner, one, recordOf(1))).toBeUndefined();
  await journals.expire('node');
  await journals.join('other');
  const failures = await Promise.all([
    append(owner, one, recordOf(2)),
    append(owner, two, recordOf(1)),
  ]);
  for (const failure of failures) {
    expect(failure?.code).toBe('SVC_ENTITY_MOVED');
    expect(failure?.message).toContain('does not own slice');
  }
  expect(await owner.read(one, 0, 10)).toEqual([recordOf(1)]);
  const next = attach('other');
  expect(await next.read(one, 0, 10)).toEqual([recordOf(1)]);
  expect(await next.read(two, 0, 10)).toEqual([]);
  expect(await append(next, one, recordOf(2))).toBeUndefined();
});

test('a write that waits while another node takes over stores nothing', async () => {
  const owner = attach('node');
  expect(await append(owner, one, recordOf(1))).toBeUndefined();
  await journals.expire('node');
  // The takeover is carried out, and not committed yet.
  const session = await journals.session();
  await session.query({ text: 'BEGIN' });
  await session.query({ text: `UPDATE svc.slice SET owner = ${OTHER}, epoch = epoch + 1` });
  journals.tableOf('other').join(OTHER);
  const writing = append(owner, one, recordOf(2));
  await held.blocked();
  await session.query({ text: 'COMMIT' });
  await session.close();
  expect((await writing)?.code).toBe('SVC_ENTITY_MOVED');
  expect(await attach('other').read(one, 0, 10)).toEqual([recordOf(1)]);
});

test('a takeover fails while the lease of the owner lasts, and while its renewal is committed', async () => {
  const other = await journals.session();
  const late = membership('other');
  expect(await late.join(other)).toBeUndefined();
  expect(late.obstacle).toMatchObject({ code: 'SVC_DATA_IN_USE' });
  await journals.expire('node');
  // The renewal was carried out in time, and its commit takes long.
  const session = await journals.session();
  await session.query({ text: 'BEGIN' });
  await session.query({
    text: `UPDATE svc.node SET lease_until = clock_timestamp() + interval '5 seconds', renewals = renewals + 1 WHERE uid = 'node'`,
  });
  expect(await membership('other').join(other)).toBeUndefined();
  await session.query({ text: 'COMMIT' });
  await session.close();
  await expect(late.join(other)).rejects.toMatchObject({ code: 'SVC_DATA_IN_USE' });
  await other.close();
});

async function epochs(): Promise<number> {
  return journals.number('SELECT max(epoch) FROM svc.slice');
}

test('no epoch is given twice, whoever takes the slices', async () => {
  const seen = [await epochs()];
  for (const [before, id] of [
    ['node', 'a'],
    ['a', 'b'],
    ['b', 'node'],
  ] as const) {
    await journals.expire(before);
    await journals.join(id);
    seen.push(await epochs());
    const journal = attach(id);
    await journal.read(one, 0, 1);
    seen.push(await epochs());
  }
  expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

describe('a late claim of the same user', () => {
  test('does not end the journal: the slices are claimed again', async () => {
    const owner = attach('node');
    expect(await append(owner, one, recordOf(1))).toBeUndefined();
    await journals.database.sql('UPDATE svc.slice SET epoch = epoch + 1');
    const outcomes = [append(owner, one, recordOf(2)), append(owner, two, recordOf(1))];
    expect(await Promise.all(outcomes)).toEqual([undefined, undefined]);
    expect(await owner.read(one, 0, 10)).toEqual([recordOf(1), recordOf(2)]);
  });
});

describe('a database that has gone back', () => {
  test.each([
    ['head', 'head = head - 1'],
    ['epoch', 'epoch = epoch - 1'],
    ['count of commits', 'commits = commits - 1'],
    ['epoch, with another owner', `epoch = epoch - 1, owner = ${OTHER}`],
  ])('by its %s is named, and takes nothing any more', async (_what, change) => {
    const owner = attach('node');
    expect(await append(owner, one, recordOf(1))).toBeUndefined();
    expect(await append(owner, one, recordOf(2))).toBeUndefined();
    await journals.database.sql(`UPDATE svc.slice SET ${change} WHERE slice = $1`, [
      sliceOf('Cart', 'one'),
    ]);
    const failures = [await append(owner, one, recordOf(3)), await append(owner, two, recordOf(1))];
    expect(failures.map((failure) => failure?.code)).toEqual([
      'SVC_JOURNAL_REGRESSED',
      'SVC_JOURNAL_REGRESSED',
    ]);
    expect(failures[0]?.message).toContain(`Slice ${sliceOf('Cart', 'one')} of the journal`);
    await expect(owner.read(one, 0, 10)).rejects.toMatchObject({ code: 'SVC_JOURNAL_REGRESSED' });
    expect(await journals.number('SELECT count(*) FROM svc.journal')).toBe(2);
  });

  test('that has given the epoch of a node to another one as well takes nothing from the first one', async () => {
    const owner = attach('node');
    expect(await append(owner, one, recordOf(1))).toBeUndefined();
    await journals.database.sql(`UPDATE svc.slice SET owner = ${OTHER}`);
    expect((await append(owner, one, recordOf(2)))?.code).toBe('SVC_ENTITY_MOVED');
    expect(await journals.number('SELECT count(*) FROM svc.journal')).toBe(1);
  });

  test('is named by the next claim as well', async () => {
    const owner = attach('node');
    expect(await append(owner, one, recordOf(1))).toBeUndefined();
    await journals.database.sql(
      'UPDATE svc.slice SET head = 0, commits = 0, epoch = epoch - 1 WHERE head = 1',
    );
    await journals.database.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND usename = 'svc_test'`,
    );
    await expect
      .poll(() => append(owner, one, recordOf(2)).then((failure) => failure?.code))
      .toBe('SVC_JOURNAL_REGRESSED');
  });

  test('takes what belongs to other slices of the same group, and says so', async () => {
    const owner = attach('node');
    expect(await append(owner, one, recordOf(1))).toBeUndefined();
    await journals.database.sql('UPDATE svc.slice SET head = head - 1 WHERE slice = $1', [
      sliceOf('Cart', 'one'),
    ]);
    const group = [append(owner, one, recordOf(2)), append(owner, two, recordOf(1))];
    const [lost, stored] = await Promise.all(group);
    expect(lost?.code).toBe('SVC_JOURNAL_REGRESSED');
    expect(stored).toBeUndefined();
    expect(await journals.number(`SELECT count(*) FROM svc.journal WHERE id = 'two'`)).toBe(1);
  });
});

describe('a head that is before the last record of its slice', () => {
  const slice = sliceOf('Cart', 'one');
  const setBack = () =>
    journals.database.sql('UPDATE svc.slice SET head = 1, commits = 1 WHERE slice = $1', [slice]);
  const expected = {
    code: 'SVC_JOURNAL_REGRESSED',
    message: expect.stringMatching(`Slice ${slice} .* its head is 1, .* the number 2`) as string,
  };

  test('is named by the append whose number another record has, and nothing is stored any more', async () => {
    const before = attach('node');
    expect(await append(before, one, recordOf(1))).toBeUndefined();
    expect(await append(before, one, recordOf(2))).toBeUndefined();
    await before.close();
    await setBack();
    const owner = attach('node');
    const group = [append(owner, one, recordOf(3)), append(owner, two, recordOf(1))];
    expect(await Promise.all(group)).toMatchObject([expected, expected]);
    expect(await append(owner, two, recordOf(1))).toMatchObject(expected);
    expect(await journals.number('SELECT count(*) FROM svc.journal')).toBe(2);
  });

  test('keeps a runtime from starting, which leaves the journal', async () => {
    const owner = attach('node');
    expect(await append(owner, one, recordOf(1))).toBeUndefined();
    expect(await append(owner, one, recordOf(2))).toBeUndefined();
    await setBack();
    await journals.expire('node');
    const opening = openPostgresJournal(
      { kind: 'postgres', source: journals.database.source },
      {
        limits: { bytesMax: 0, closeMs: 3_000 },
        timerLimits: TIMER_LIMITS_DEFAULT,
        fingerprint: '',
        isExclusive: true,
        series: new JournalSeries(),
      },
    );
    await expect(opening).rejects.toMatchObject(expected);
    expect(await journals.number('SELECT count(*) FROM svc.node')).toBe(0);
  });
});

function following(): FollowingSession {
  return new FollowingSession({
    connect: () => journals.session(),
    shown: 'test',
    clock: { monotonicMs: () => performance.now() },
  });
}

describe('what belongs to no slice', () => {
  test('is not settled by a node that was taken over', async () => {
    const settlements = new ConsumerSettlements(following(), nodeFence(numberOfNode, 'test'));
    const settle = () =>
      settlements.settleConsumer(
        { id: 'ledger', start: 'beginning' },
        { position: attach('other').positions.start, lanes: [], rejoined: [] },
      );
    await settle();
    await journals.expire('node');
    await journals.join('other');
    await expect(settle()).rejects.toMatchObject({ code: 'SVC_JOURNAL_UNAVAILABLE' });
    await settlements.close();
  });

  test('keeps a takeover waiting while it is settled', async () => {
    const session = await journals.session();
    await session.query({ text: 'BEGIN' });
    await nodeFence(numberOfNode, 'test')(session);
    await journals.expire('node');
    const other = await journals.session();
    expect(await membership('other').join(other)).toBeUndefined();
    await session.query({ text: 'COMMIT' });
    expect(await membership('other').join(other)).toBeGreaterThan(0);
    await other.close();
    await session.query({ text: 'BEGIN' });
    await expect(nodeFence(numberOfNode, 'test')(session)).rejects.toThrow('taken over');
    await session.close();
  });

  test('is not changed among timers by a node that was taken over', async () => {
    const session = await journals.session();
    const timers = new PostgresTimerAdministration({
      withSession: (use) => use(session),
      rules: timerRules(),
      fence: nodeFence(numberOfNode, 'test'),
      onStored: () => {},
    });
    expect(await timers.cancelTimer(one, 'none')).toBe(false);
    await journals.expire('node');
    await journals.join('other');
    await expect(timers.cancelTimer(one, 'none')).rejects.toThrow('taken over');
    await session.close();
  });
});
