// Two nodes write one journal, and slices move between them: who may write, what is read, and what becomes of writes under way.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ReleasedSlices } from '../../../../host/storage/cluster-nodes.ts';
import type { SvcError } from '../../../../kit/svc-error.ts';
import type { EntityRef } from '../../../../model/entity.ts';
import { sliceOf } from '../../../../model/slice.ts';
import { answerTo, append, keep, recordOf } from '../../../suites/journal-suite.ts';
import { HeldCommits } from '../../../support/postgres/held-commits.ts';
import { JournalDatabase } from '../../../support/postgres/journal-database.ts';
import { JournalNode, move } from '../../../support/postgres/journal-node.ts';
import { serverVersions } from '../../../support/postgres/postgres-programs.ts';
import { PostgresServer } from '../../../support/postgres/postgres-server.ts';
import { TcpFaultProxy } from '../../../support/tcp-fault-proxy.ts';
import { appendBeside, change, SET_MS, timerAt } from '../../../support/timer-writes.ts';

const one: EntityRef = { component: 'Cart', id: 'one' };
const two: EntityRef = { component: 'Cart', id: 'two' };
const ONE = sliceOf('Cart', 'one');
const TWO = sliceOf('Cart', 'two');
const MOVED = 'SVC_ENTITY_MOVED';
const LONG_MS = 60_000;

describe.each(serverVersions())('PostgreSQL %s', (version) => {
  let journals: JournalDatabase;
  let held: HeldCommits;
  let proxy: TcpFaultProxy;
  let a: JournalNode;
  let b: JournalNode;

  beforeAll(async () => {
    const server = await PostgresServer.shared(version);
    journals = await JournalDatabase.make(server);
    held = await HeldCommits.of(server, journals);
    proxy = await TcpFaultProxy.to(server.port);
  });
  afterAll(async () => {
    await proxy.close();
    await held.close();
    await journals.database.drop();
  });
  beforeEach(async () => {
    await journals.empty();
    a = new JournalNode(journals, 101, { source: journals.through(proxy), uncertainMs: LONG_MS });
    b = new JournalNode(journals, 102);
    await move(journals, [ONE, TWO], a, [a, b]);
    expect(await append(a.journal, one, recordOf(1))).toBeUndefined();
  });
  afterEach(async () => {
    await held.release();
    proxy.accept();
    await Promise.all([a.journal.close(), b.journal.close()]);
  });

  const code = async (outcome: Promise<SvcError | undefined>): Promise<string | undefined> =>
    (await outcome)?.code;

  async function epochOf(slice: number): Promise<number> {
    return journals.number(`SELECT epoch FROM svc.slice WHERE slice = ${slice}`);
  }

  describe('a node without a slice', () => {
    test('reads what others have stored, and is told to try again where it writes', async () => {
      expect(await b.journal.read(one, 0, 9)).toEqual([recordOf(1)]);
      expect(await code(append(b.journal, one, recordOf(2)))).toBe(MOVED);
      expect(await code(keep(b.journal, one, [], answerTo('k', 1)))).toBe(MOVED);
      expect(await b.journal.read(one, 0, 9)).toEqual([recordOf(1)]);
    });

    test('does not claim it, and so keeps its owner from nothing', async () => {
      const before = await epochOf(ONE);
      await b.journal.read(one, 0, 9);
      expect(await code(append(b.journal, one, recordOf(2)))).toBe(MOVED);
      expect(await epochOf(ONE)).toBe(before);
      expect(await append(a.journal, one, recordOf(2))).toBeUndefined();
    });

    test('does not claim it either if it takes it for its own, and finds out who has it', async () => {
      b.table.assign([[ONE, b.number]]);
      const before = await epochOf(ONE);
      expect(await code(append(b.journal, one, recordOf(2)))).toBe(MOVED);
      expect(await epochOf(ONE)).toBe(before);
      expect(b.table.acquisitionOf(ONE)).toBeUndefined();
      await b.reported('look');
      expect(await append(a.journal, one, recordOf(2))).toBeUndefined();
    });
  });

  describe('a node that gains a slice', () => {
    test('goes on after what the former owner has stored', async () => {
      expect(await b.journal.read(one, 0, 9)).toEqual([recordOf(1)]);
      await move(journals, [ONE], b, [a, b]);
      expect(await b.journal.read(one, 0, 9)).toEqual([recordOf(1)]);
      expect(b.journal.cluster.headOf('Cart', 'one')).toEqual([ONE, 1]);
      expect(await append(b.journal, one, recordOf(2))).toBeUndefined();
      expect(await append(a.journal, two, recordOf(1))).toBeUndefined();
      expect(await a.journal.read(one, 0, 9)).toEqual([recordOf(1), recordOf(2)]);
    });

    test('reads what the former owner was committing', async () => {
      await held.hold();
      const writing = append(a.journal, one, recordOf(2));
      await held.waiting();
      const moving = move(journals, [ONE], b, [a, b]);
      await held.blocked();
      await held.release();
      await moving;
      expect(await b.journal.read(one, 0, 9)).toEqual([recordOf(1), recordOf(2)]);
      expect(await writing).toBeUndefined();
    });

    test('claims it only once a group is stored, and not in the midst of its transaction', async () => {
      const blocker = await journals.session();
      await blocker.query({ text: 'BEGIN' });
      await blocker.query({ text: 'LOCK TABLE svc.timer IN EXCLUSIVE MODE' });
      // The connection that reads is made.
      expect(await a.journal.read(one, 0, 9)).toEqual([recordOf(1)]);
      const order: string[] = [];
      const timers = { changes: [timerAt('t', SET_MS)] };
      const writing = appendBeside(a.journal, one, [recordOf(2)], { timers }).then((failure) =>
        order.push(failure?.code ?? 'stored'),
      );
      await held.blocked();
      const three = sliceOf('Cart', 'three');
      await move(journals, [three], a);
      const reading = a.journal
        .read({ component: 'Cart', id: 'three' }, 0, 9)
        .then(() => order.push('read'));
      await held.hold();
      await blocker.query({ text: 'ROLLBACK' });
      await blocker.close();
      await held.waiting();
      for (let n = 0; n < 50; n++) await epochOf(three);
      expect(order).toEqual([]);
      await held.release();
      await Promise.all([writing, reading]);
      expect(order.toSorted()).toEqual(['read', 'stored']);
    });
  });

  describe('a node that loses a slice', () => {
    test('stores nothing in it, finds out who has it, and goes on with its other slices', async () => {
      await move(journals, [ONE], b);
      const outcomes = [
        append(a.journal, one, recordOf(2)),
        append(a.journal, two, recordOf(1)),
        append(a.journal, one, recordOf(3)),
        keep(a.journal, one, [], answerTo('k', 1)),
      ];
      expect(await Promise.all(outcomes.map(code))).toEqual([MOVED, undefined, MOVED, MOVED]);
      expect(a.table.acquisitionOf(ONE)).toBeUndefined();
      expect(a.table.acquisitionOf(TWO)).toBe(1);
      await a.reported('look');
      expect(await append(a.journal, two, recordOf(2))).toBeUndefined();
      expect(await append(b.journal, one, recordOf(2))).toBeUndefined();
      expect(await a.journal.read(one, 0, 9)).toEqual([recordOf(1), recordOf(2)]);
      expect(a.reports.map(({ kind }) => kind)).not.toContain('ended');
    });

    test('repeats what belongs to its other slices if the group was a transaction', async () => {
      await move(journals, [ONE], b);
      const outcomes = [
        append(a.journal, one, recordOf(2)),
        appendBeside(a.journal, two, [recordOf(1)], {
          timers: { changes: [timerAt('t', SET_MS)] },
        }),
      ];
      expect(await Promise.all(outcomes.map(code))).toEqual([MOVED, undefined]);
      expect(await journals.number('SELECT count(*) FROM svc.timer')).toBe(1);
    });

    test('sends nothing of it that is still queued, in the order in which it was queued', async () => {
      await held.hold();
      const order: number[] = [];
      const outcomes = [2, 3].map(async (seq) => {
        const outcome = await code(append(a.journal, one, recordOf(seq)));
        order.push(seq);
        return outcome;
      });
      await held.waiting();
      outcomes.push(
        code(append(a.journal, one, recordOf(4))),
        code(append(a.journal, two, recordOf(1))),
      );
      a.table.assign([[ONE, b.number]]);
      await held.release();
      expect(await Promise.all(outcomes)).toEqual([undefined, undefined, MOVED, undefined]);
      expect(order).toEqual([2, 3]);
      expect(await a.journal.read(one, 0, 9)).toHaveLength(3);
    });

    test('stores nothing that was queued before, when it owns the slice again', async () => {
      await held.hold();
      const first = append(a.journal, two, recordOf(1));
      await held.waiting();
      const queued = [
        keep(a.journal, one, [], answerTo('before', 1)),
        append(a.journal, one, recordOf(2)),
      ];
      await move(journals, [ONE], b, [a, b]);
      await move(journals, [ONE], a, [a, b]);
      await held.release();
      expect(await first).toBeUndefined();
      expect(await Promise.all(queued.map(code))).toEqual([MOVED, MOVED]);
      expect(await a.journal.answer(one, 'before')).toBeUndefined();
      expect(await append(a.journal, one, recordOf(2))).toBeUndefined();
    });

    test('goes on after what others have stored, when it owns the slice again', async () => {
      await move(journals, [ONE], b, [a, b]);
      expect(await append(b.journal, one, recordOf(2))).toBeUndefined();
      await move(journals, [ONE], a, [a, b]);
      expect(await a.journal.read(one, 0, 9)).toEqual([recordOf(1), recordOf(2)]);
      expect(await append(a.journal, one, recordOf(3))).toBeUndefined();
      expect(await code(append(b.journal, one, recordOf(4)))).toBe(MOVED);
    });

    test('goes on under another number, once it has joined again', async () => {
      await move(journals, [ONE, TWO], b);
      a.table.join(103);
      expect(await code(append(a.journal, one, recordOf(2)))).toBe(MOVED);
      await journals.database.sql(
        'UPDATE svc.slice SET owner = 103, epoch = epoch + 1 WHERE slice = $1',
        [TWO],
      );
      a.table.assign([[TWO, 103]]);
      b.table.assign([[TWO, 103]]);
      expect(await append(a.journal, two, recordOf(1))).toBeUndefined();
      expect(await append(b.journal, one, recordOf(2))).toBeUndefined();
    });
  });

  describe('a write whose connection is lost while its slice moves', () => {
    /** Queues a write whose commit waits. */
    async function sent(): Promise<{ readonly outcome: Promise<string | undefined> }> {
      await held.hold();
      const outcome = code(append(a.journal, one, recordOf(2)));
      await held.waiting();
      return { outcome };
    }
    /** Ends the transactions that wait, so that they are not stored. */
    async function terminate(): Promise<void> {
      await journals.database.sql(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`,
      );
    }
    const end = { stored: () => held.release(), 'not stored': terminate };

    test.each([
      ['stored', undefined],
      ['not stored', MOVED],
    ] as const)(
      'is known to be %s, once another node has taken the slice',
      async (what, expected) => {
        const { outcome } = await sent();
        const moving = move(journals, [ONE], b, [b]);
        await held.blocked();
        a.table.assign([[ONE, b.number]]);
        proxy.reset();
        await end[what]();
        await moving;
        expect(await outcome).toBe(expected);
        const records = what === 'stored' ? 2 : 1;
        expect(await b.journal.read(one, 0, 9)).toHaveLength(records);
        expect(a.journal.cluster.headOf('Cart', 'one')).toEqual([ONE, records]);
      },
    );

    test.each([
      ['stored', undefined],
      ['not stored', MOVED],
    ] as const)(
      'is known to be %s, although nobody has taken the slice yet',
      async (what, expected) => {
        const { outcome } = await sent();
        // The lease of the node has ended, and nobody has noticed it in the database.
        a.table.join(103);
        proxy.reset();
        // The connection waits for the write that it shuts out.
        await held.blocked();
        await end[what]();
        expect(await outcome).toBe(expected);
        await move(journals, [ONE], b);
        expect(await b.journal.read(one, 0, 9)).toHaveLength(what === 'stored' ? 2 : 1);
      },
    );

    test.each([
      ['stored', 'SVC_CALL_UNCERTAIN'],
      ['not stored', 'SVC_CALL_UNCERTAIN'],
    ] as const)(
      'is left open if it was %s, and the next owner has written since',
      async (what, expected) => {
        const { outcome } = await sent();
        proxy.refuse();
        proxy.reset();
        await end[what]();
        await move(journals, [ONE], b);
        await held.release();
        const next = (await b.journal.read(one, 0, 9)).length + 1;
        expect(await append(b.journal, one, recordOf(next))).toBeUndefined();
        proxy.accept();
        expect(await outcome).toBe(expected);
      },
    );

    test('has moved if the next owner has only read since', async () => {
      const { outcome } = await sent();
      proxy.refuse();
      proxy.reset();
      await terminate();
      await move(journals, [ONE], b);
      expect(await b.journal.read(one, 0, 9)).toEqual([recordOf(1)]);
      proxy.accept();
      expect(await outcome).toBe(MOVED);
    });

    test('is known by its own claim if the slice was not lost, whatever became of others', async () => {
      await held.hold();
      const outcomes = [append(a.journal, one, recordOf(2)), append(a.journal, two, recordOf(1))];
      await held.waiting();
      a.table.assign([[ONE, b.number]]);
      proxy.reset();
      await held.blocked();
      await held.release();
      expect(await Promise.all(outcomes)).toEqual([undefined, undefined]);
      expect(await append(a.journal, two, recordOf(2))).toBeUndefined();
    });
  });

  describe('a detached append', () => {
    const retry = async (node: JournalNode, of: EntityRef): Promise<string | undefined> => {
      const number = await journals.number('SELECT number FROM svc.timer');
      const attempts = await journals.number('SELECT attempts FROM svc.timer');
      const occurrence = { number, dueMs: SET_MS, attempts };
      const firing = {
        occurrence,
        end: { kind: 'retry', nextMs: SET_MS + 1, fault: 'why' } as const,
      };
      return code(
        appendBeside(node.journal, of, [], { isDetached: true, timers: { firing, changes: [] } }),
      );
    };

    test('is stored with any slice that the node owns', async () => {
      expect(await change(a.journal, one, timerAt('t', SET_MS))).toBeUndefined();
      await move(journals, [ONE], b, [a, b]);
      expect(await retry(a, one)).toBeUndefined();
      expect(await retry(b, two)).toBeUndefined();
    });

    test('is tried with another slice if the node has lost the first one', async () => {
      expect(await change(a.journal, one, timerAt('t', SET_MS))).toBeUndefined();
      await move(journals, [ONE], b);
      expect(await retry(a, one)).toBeUndefined();
    });

    test('has moved if the node owns no slice', async () => {
      expect(await change(a.journal, one, timerAt('t', SET_MS))).toBeUndefined();
      await move(journals, [ONE, TWO], b);
      expect(await retry(a, one)).toBe(MOVED);
      expect(await retry(a, one)).toBe(MOVED);
      expect(await retry(b, one)).toBeUndefined();
    });
  });

  describe('a release', () => {
    const RELEASE = 7;
    const three: EntityRef = { component: 'Cart', id: 'three' };

    test('is answered once nothing of its slices is under way, and ends when the main thread says so', async () => {
      const begun = Promise.withResolvers<ReleasedSlices>();
      const drained = Promise.withResolvers<void>();
      a.journal.cluster.onRelease((slices) => {
        begun.resolve(slices);
        return drained.promise;
      });
      a.request({ kind: 'release', number: RELEASE, slices: [ONE] });
      const slices = await begun.promise;
      expect([slices.has(one), slices.has(two)]).toEqual([true, false]);
      // Calls that were taken before still write.
      expect(await append(a.journal, one, recordOf(2))).toBeUndefined();
      expect(a.reports.map(({ kind }) => kind)).not.toContain('released');
      drained.resolve();
      await a.reported('released');
      expect(a.reports).toContainEqual({ kind: 'released', number: RELEASE });
      const ended: string[] = [];
      const ending = slices.ended.then(() => ended.push('ended'));
      await a.received();
      expect(ended).toEqual([]);
      a.request({ kind: 'release-ended', number: RELEASE });
      await ending;
    });

    test('of slices that the user does not write is answered at once', async () => {
      const other = new JournalNode(journals, 104, { slices: [ONE === 0 ? 1 : 0, 1] });
      const seen: boolean[] = [];
      other.journal.cluster.onRelease(async (slices) => {
        seen.push(slices.has(one));
      });
      other.request({ kind: 'release', number: RELEASE, slices: [ONE] });
      await other.reported('released');
      expect(seen).toEqual([false]);
      await other.journal.close();
    });

    test('ends with the journal', async () => {
      const begun = Promise.withResolvers<ReleasedSlices>();
      b.journal.cluster.onRelease(async (slices) => begun.resolve(slices));
      b.request({ kind: 'release', number: RELEASE, slices: [ONE] });
      const { ended } = await begun.promise;
      await b.journal.close();
      await ended;
    });

    test('lets no slice be claimed again: what is lost meanwhile may be back from the next owner already', async () => {
      a.request({ kind: 'release', number: RELEASE, slices: [ONE] });
      await a.received();
      proxy.reset();
      const before = await epochOf(ONE);
      await expect.poll(() => code(append(a.journal, two, recordOf(1)))).toBeUndefined();
      expect(await code(append(a.journal, one, recordOf(2)))).toBe(MOVED);
      expect(await epochOf(ONE)).toBe(before);
      expect(a.table.acquisitionOf(ONE)).toBeUndefined();
      // The slice stays with the node after all.
      a.table.assign([[ONE, a.number]]);
      a.request({ kind: 'release-ended', number: RELEASE });
      await a.received();
      expect(await append(a.journal, one, recordOf(2))).toBeUndefined();
    });

    test('leaves a slice unclaimed that was acquired meanwhile, until it ends', async () => {
      const slice = sliceOf('Cart', 'three');
      a.request({ kind: 'release', number: RELEASE, slices: [slice] });
      await a.received();
      await move(journals, [slice], a);
      expect(await code(append(a.journal, three, recordOf(1)))).toBe(MOVED);
      a.table.assign([[slice, a.number]]);
      a.request({ kind: 'release-ended', number: RELEASE });
      await a.received();
      expect(await append(a.journal, three, recordOf(1))).toBeUndefined();
    });
  });

  describe('the owners of slices', () => {
    test('are known to the threads of a node, which wait for changes', async () => {
      const { cluster } = a.journal;
      expect(cluster.self).toBe(a.number);
      expect(cluster.ownerOf('Cart', 'one')).toBe(a.number);
      const { version } = cluster;
      const changed = cluster.changed(version, LONG_MS);
      a.table.assign([[ONE, b.number]]);
      await changed;
      expect(cluster.version).not.toBe(version);
      expect(cluster.ownerOf('Cart', 'one')).toBe(b.number);
      await cluster.changed(cluster.version, 1);
      cluster.advance(ONE, 12);
      cluster.advance(ONE, 11);
      expect(cluster.headOf('Cart', 'one')).toEqual([ONE, 12]);
      cluster.look();
      await a.reported('look');
    });
  });
});
