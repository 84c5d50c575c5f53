// What an append settles with if the connection is lost while it is stored: the exact outcome if it can be found out in time.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Journal } from '../../../../host/engine/needs/journal.ts';
import type { SvcError } from '../../../../kit/svc-error.ts';
import type { EntityRef } from '../../../../model/entity.ts';
import { answerTo, append, deletionAt, keep, recordOf } from '../../../suites/journal-suite.ts';
import { HeldCommits } from '../../../support/postgres/held-commits.ts';
import { JournalDatabase } from '../../../support/postgres/journal-database.ts';
import { missStandby } from '../../../support/postgres/missing-standby.ts';
import { PostgresServer } from '../../../support/postgres/postgres-server.ts';
import { TcpFaultProxy } from '../../../support/tcp-fault-proxy.ts';
import { appendBeside, change, SET_MS, timerAt } from '../../../support/timer-writes.ts';

const one: EntityRef = { component: 'Cart', id: 'one' };
const two: EntityRef = { component: 'Cart', id: 'two' };
const LONG_MS = 60_000;

describe('a connection that is lost', () => {
  let server: PostgresServer;
  let journals: JournalDatabase;
  let held: HeldCommits;
  let proxy: TcpFaultProxy;
  let journal: Journal;

  beforeAll(async () => {
    server = await PostgresServer.shared('18');
    journals = await JournalDatabase.make(server);
    held = await HeldCommits.of(server, journals);
    proxy = await TcpFaultProxy.to(server.port);
  });
  afterAll(async () => {
    await proxy.close();
    await held.close();
    await journals.database.end();
  });
  beforeEach(async () => {
    await journals.empty();
    journal = attach(LONG_MS);
    // A timer that is there before.
    await change(journal, two, timerAt('before', SET_MS));
  });
  afterEach(async () => {
    await held.release();
    await journal.close();
  });

  function attach(uncertainMs: number): Journal {
    return journals.attach({ source: journals.through(proxy), uncertainMs });
  }

  /** Ends the transactions that wait, so that they are not stored. */
  async function terminate(): Promise<void> {
    await journals.database.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`,
    );
  }

  type Queue = () => Promise<readonly Promise<SvcError | undefined>[]>;
  const kinds: readonly (readonly [string, Queue, string])[] = [
    [
      'records of several entities',
      async () => [
        append(journal, one, recordOf(1)),
        append(journal, two, recordOf(1), recordOf(2)),
        append(journal, one, recordOf(2)),
      ],
      'SELECT count(*) = 4 AS all, count(*) = 0 AS none FROM svc.journal',
    ],
    [
      'replies alone',
      async () => [
        keep(journal, one, [], answerTo('k', 1)),
        keep(journal, two, [], answerTo('l', 1)),
      ],
      'SELECT count(*) = 2 AS all, count(*) = 0 AS none FROM svc.reply',
    ],
    [
      'timers alone',
      async () => [
        change(journal, one, timerAt('t', SET_MS)),
        change(journal, two, timerAt('t', SET_MS)),
      ],
      'SELECT count(*) = 3 AS all, count(*) = 1 AS none FROM svc.timer',
    ],
    [
      'timers beside records, and a deletion',
      async () => [
        appendBeside(journal, one, [recordOf(1)], {
          timers: { changes: [timerAt('t', SET_MS)] },
        }),
        append(journal, two, recordOf(1), deletionAt(2)),
      ],
      `SELECT (SELECT count(*) FROM svc.journal) = 3 AND count(*) FILTER (WHERE name = 't') = 1 AND count(*) = 1 AS all,
        (SELECT count(*) FROM svc.journal) = 0 AND count(*) = 1 AS none FROM svc.timer`,
    ],
    [
      'the end of a firing alone',
      async () => {
        const number = await journals.number('SELECT number FROM svc.timer');
        const occurrence = { number, dueMs: SET_MS, attempts: 0 };
        const firing = {
          occurrence,
          end: { kind: 'retry', nextMs: SET_MS + 1, fault: 'why' } as const,
        };
        return [
          appendBeside(journal, one, [], { timers: { firing, changes: [] }, isDetached: true }),
        ];
      },
      'SELECT sum(attempts) = 1 AS all, sum(attempts) = 0 AS none FROM svc.timer',
    ],
  ];

  describe.each(kinds)('while %s are stored', (_what, queue, count) => {
    async function sent(): Promise<readonly Promise<SvcError | undefined>[]> {
      await held.hold();
      const outcomes = await queue();
      await held.waiting();
      proxy.reset();
      return outcomes;
    }

    test('after they were sent: they are stored, and nobody is left in doubt', async () => {
      const outcomes = await sent();
      await held.blocked();
      await held.release();
      for (const outcome of await Promise.all(outcomes)) expect(outcome).toBeUndefined();
      expect(await journals.database.sql(count)).toMatchObject([{ all: true }]);
    });

    test('after they were sent, and again with the claim: they are stored, and nobody is left in doubt', async () => {
      const outcomes = await sent();
      await held.blocked();
      proxy.reset();
      await held.blocked(2);
      await held.release();
      for (const outcome of await Promise.all(outcomes)) expect(outcome).toBeUndefined();
      expect(await journals.database.sql(count)).toMatchObject([{ all: true }]);
      expect(await append(journal, one, recordOf((await journal.read(one, 0, 9)).length + 1))).toBe(
        undefined,
      );
    });

    test('before they are committed: they are not stored, and nobody is left in doubt', async () => {
      const outcomes = await sent();
      await held.blocked();
      await terminate();
      for (const outcome of await Promise.all(outcomes))
        expect(outcome?.code).toBe('SVC_JOURNAL_UNAVAILABLE');
      expect(await journals.database.sql(count)).toMatchObject([{ none: true }]);
    });
  });

  test('leaves it open in time what has become of a write, if nobody can find it out; reads wait until they are final', async () => {
    const hurried = attach(50);
    // The slices are claimed.
    expect(await hurried.read(one, 0, 9)).toEqual([]);
    await held.hold();
    const writing = [append(hurried, one, recordOf(1)), append(hurried, one, recordOf(2))];
    await held.waiting();
    proxy.reset();
    const outcomes = await Promise.all(writing);
    expect(outcomes[0]?.code).toBe('SVC_CALL_UNCERTAIN');
    expect(outcomes[1]).toBeDefined();
    const reading = hurried.read(one, 0, 9);
    await held.blocked();
    await held.release();
    const stored = await reading;
    expect(stored.slice(0, 1)).toEqual([recordOf(1)]);
    expect(await append(hurried, one, recordOf(stored.length + 1))).toBeUndefined();
    await hurried.close();
  });

  test('before anything is sent: nothing is stored', async () => {
    const hurried = attach(50);
    expect(await append(hurried, one, recordOf(1))).toBeUndefined();
    proxy.refuse();
    // The first write may have been sent before the loss was noticed.
    expect(await append(hurried, one, recordOf(2))).toBeDefined();
    expect((await append(hurried, one, recordOf(2)))?.code).toBe('SVC_JOURNAL_UNAVAILABLE');
    proxy.accept();
    await expect.poll(() => append(hurried, one, recordOf(2))).toBeUndefined();
    expect(await hurried.read(one, 0, 9)).toEqual([recordOf(1), recordOf(2)]);
    await hurried.close();
  });

  test('in a transaction before its commit is sent: nothing is stored, and that is known at once', async () => {
    const blocker = await journals.session();
    await blocker.query({ text: 'BEGIN' });
    await blocker.query({ text: 'LOCK TABLE svc.timer IN EXCLUSIVE MODE' });
    const writing = appendBeside(journal, one, [recordOf(1)], {
      timers: { changes: [timerAt('t', SET_MS)] },
    });
    await held.blocked();
    proxy.reset();
    expect((await writing)?.code).toBe('SVC_JOURNAL_UNAVAILABLE');
    await blocker.query({ text: 'ROLLBACK' });
    await blocker.close();
    expect(await journal.read(one, 0, 9)).toEqual([]);
  });
});

describe('a commit whose wait for the standby is cancelled', () => {
  let server: PostgresServer;
  let journals: JournalDatabase;
  let findStandby: () => Promise<void>;

  beforeAll(async () => {
    server = await PostgresServer.start('18');
    journals = await JournalDatabase.make(server);
  });
  afterAll(async () => {
    await server.stop();
  });
  beforeEach(async () => {
    await journals.empty();
  });

  /** Queues a write whose commit waits, and ends the wait. */
  async function cancelled(journal: Journal): Promise<SvcError | undefined> {
    expect(await append(journal, one, recordOf(1))).toBeUndefined();
    findStandby = await missStandby(server);
    const writing = append(journal, one, recordOf(2));
    const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND datname = $1`;
    while ((await server.sql(cancel, [journals.database.name])).length === 0);
    return writing;
  }

  test('is not known, until the next claim has reached the standby', async () => {
    const journal = journals.attach({ uncertainMs: LONG_MS });
    const outcome: (SvcError | undefined)[] = [];
    const writing = cancelled(journal).then((failure) => outcome.push(failure));
    const claiming = `SELECT count(*)::int FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%epoch + 1%'`;
    while ((await journals.number(claiming)) === 0);
    expect(outcome).toEqual([]);
    await findStandby();
    await writing;
    expect(outcome).toEqual([undefined]);
    expect(await journal.read(one, 0, 9)).toEqual([recordOf(1), recordOf(2)]);
    await journal.close();
  });

  test('leaves it open whether the write is stored, if the standby stays away', async () => {
    const journal = journals.attach({ uncertainMs: 50 });
    expect((await cancelled(journal))?.code).toBe('SVC_CALL_UNCERTAIN');
    await findStandby();
    expect(await journal.read(one, 0, 9)).toEqual([recordOf(1), recordOf(2)]);
    await journal.close();
  });
});
