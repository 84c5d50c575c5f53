// Slices move between two nodes while writes of the former owner are under way: what becomes of them.
import { describe, expect, test } from 'vitest';
import type { ReleasedSlices } from '../../../../host/storage/cluster-nodes.ts';
import type { EntityRef } from '../../../../model/entity.ts';
import { sliceOf } from '../../../../model/slice.ts';
import { append, recordOf } from '../../../suites/journal-suite.ts';
import { JournalNode } from '../../../support/postgres/journal-node.ts';
import { serverVersions } from '../../../support/postgres/postgres-programs.ts';
import { code, ONE, one, two, TwoNodes } from '../../../support/postgres/two-nodes.ts';

const MOVED = 'SVC_ENTITY_MOVED';

describe.each(serverVersions())('PostgreSQL %s', (version) => {
  const nodes = new TwoNodes(version);

  describe('a write whose connection is lost while its slice moves', () => {
    /** Queues a write whose commit waits. */
    // oxlint-disable-next-line unicorn/consistent-function-scoping -- only these tests use it
    async function sent(): Promise<{ readonly outcome: Promise<string | undefined> }> {
      await nodes.held.hold();
      const outcome = code(append(nodes.a.journal, one, recordOf(2)));
      await nodes.held.waiting();
      return { outcome };
    }
    /** Ends the transactions that wait, so that they are not stored. */
    // oxlint-disable-next-line unicorn/consistent-function-scoping -- only these tests use it
    async function terminate(): Promise<void> {
      await nodes.journals.database.sql(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`,
      );
    }
    const end = { stored: () => nodes.held.release(), 'not stored': terminate };

    test.each([
      ['stored', undefined],
      ['not stored', MOVED],
    ] as const)(
      'is known to be %s, once another node has taken the slice',
      async (what, expected) => {
        const { outcome } = await sent();
        const moving = nodes.move([ONE], nodes.b, [nodes.b]);
        await nodes.held.blocked();
        nodes.a.table.assign([[ONE, nodes.b.number]]);
        nodes.proxy.reset();
        await end[what]();
        await moving;
        expect(await outcome).toBe(expected);
        const records = what === 'stored' ? 2 : 1;
        expect(await nodes.b.journal.read(one, 0, 9)).toHaveLength(records);
        expect(nodes.a.journal.cluster.headOf('Cart', 'one')).toEqual([ONE, records]);
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
        nodes.a.table.join(103);
        nodes.proxy.reset();
        // The connection waits for the write that it shuts out.
        await nodes.held.blocked();
        await end[what]();
        expect(await outcome).toBe(expected);
        await nodes.move([ONE], nodes.b);
        expect(await nodes.b.journal.read(one, 0, 9)).toHaveLength(what === 'stored' ? 2 : 1);
      },
    );

    test.each([
      ['stored', 'SVC_CALL_UNCERTAIN'],
      ['not stored', 'SVC_CALL_UNCERTAIN'],
    ] as const)(
      'is left open if it was %s, and the next owner has written since',
      async (what, expected) => {
        const { outcome } = await sent();
        nodes.proxy.refuse();
        nodes.proxy.reset();
        await end[what]();
        await nodes.move([ONE], nodes.b);
        await nodes.held.release();
        const next = (await nodes.b.journal.read(one, 0, 9)).length + 1;
        expect(await append(nodes.b.journal, one, recordOf(next))).toBeUndefined();
        nodes.proxy.accept();
        expect(await outcome).toBe(expected);
      },
    );

    test('has moved if the next owner has only read since', async () => {
      const { outcome } = await sent();
      nodes.proxy.refuse();
      nodes.proxy.reset();
      await terminate();
      await nodes.move([ONE], nodes.b);
      expect(await nodes.b.journal.read(one, 0, 9)).toEqual([recordOf(1)]);
      nodes.proxy.accept();
      expect(await outcome).toBe(MOVED);
    });

    test('is known by its own claim if the slice was not lost, whatever became of others', async () => {
      await nodes.held.hold();
      const outcomes = [
        append(nodes.a.journal, one, recordOf(2)),
        append(nodes.a.journal, two, recordOf(1)),
      ];
      await nodes.held.waiting();
      nodes.a.table.assign([[ONE, nodes.b.number]]);
      nodes.proxy.reset();
      await nodes.held.blocked();
      await nodes.held.release();
      expect(await Promise.all(outcomes)).toEqual([undefined, undefined]);
      expect(await append(nodes.a.journal, two, recordOf(2))).toBeUndefined();
    });
  });

  describe('a release', () => {
    const RELEASE = 7;
    const three: EntityRef = { component: 'Cart', id: 'three' };

    test('is answered once nothing of its slices is under way, and ends when the main thread says so', async () => {
      const begun = Promise.withResolvers<ReleasedSlices>();
      const drained = Promise.withResolvers<void>();
      nodes.a.journal.cluster.onRelease((slices) => {
        begun.resolve(slices);
        return drained.promise;
      });
      nodes.a.request({ kind: 'release', number: RELEASE, slices: [ONE] });
      const slices = await begun.promise;
      expect([slices.has(one), slices.has(two)]).toEqual([true, false]);
      // Calls that were taken before still write.
      expect(await append(nodes.a.journal, one, recordOf(2))).toBeUndefined();
      expect(nodes.a.reports.map(({ kind }) => kind)).not.toContain('released');
      drained.resolve();
      await nodes.a.reported('released');
      expect(nodes.a.reports).toContainEqual({ kind: 'released', number: RELEASE });
      const ended: string[] = [];
      const ending = slices.ended.then(() => ended.push('ended'));
      await nodes.a.received();
      expect(ended).toEqual([]);
      nodes.a.request({ kind: 'release-ended', number: RELEASE });
      await ending;
    });

    test('of slices that the user does not write is answered at once', async () => {
      const other = new JournalNode(nodes.journals, 104, { slices: [ONE === 0 ? 1 : 0, 1] });
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
      nodes.b.journal.cluster.onRelease(async (slices) => begun.resolve(slices));
      nodes.b.request({ kind: 'release', number: RELEASE, slices: [ONE] });
      const { ended } = await begun.promise;
      await nodes.b.journal.close();
      expect(await ended).toBeUndefined();
    });

    test('lets no slice be claimed again: what is lost meanwhile may be back from the next owner already', async () => {
      nodes.a.request({ kind: 'release', number: RELEASE, slices: [ONE] });
      await nodes.a.received();
      nodes.proxy.reset();
      const before = await nodes.epochOf(ONE);
      await expect.poll(() => code(append(nodes.a.journal, two, recordOf(1)))).toBeUndefined();
      expect(await code(append(nodes.a.journal, one, recordOf(2)))).toBe(MOVED);
      expect(await nodes.epochOf(ONE)).toBe(before);
      expect(nodes.a.table.acquisitionOf(ONE)).toBeUndefined();
      // The slice stays with the node after all.
      nodes.a.table.assign([[ONE, nodes.a.number]]);
      nodes.a.request({ kind: 'release-ended', number: RELEASE });
      await nodes.a.received();
      expect(await append(nodes.a.journal, one, recordOf(2))).toBeUndefined();
    });

    test('leaves a slice unclaimed that was acquired meanwhile, until it ends', async () => {
      const slice = sliceOf('Cart', 'three');
      nodes.a.request({ kind: 'release', number: RELEASE, slices: [slice] });
      await nodes.a.received();
      await nodes.move([slice], nodes.a);
      expect(await code(append(nodes.a.journal, three, recordOf(1)))).toBe(MOVED);
      nodes.a.table.assign([[slice, nodes.a.number]]);
      nodes.a.request({ kind: 'release-ended', number: RELEASE });
      await nodes.a.received();
      expect(await append(nodes.a.journal, three, recordOf(1))).toBeUndefined();
    });
  });
});
