// Two nodes write one journal, and slices move between them: who may write, and what is read.
import { describe, expect, test } from 'vitest';
import type { EntityRef } from '../../../../model/entity.ts';
import { sliceOf } from '../../../../model/slice.ts';
import { answerTo, append, keep, recordOf } from '../../../suites/journal-suite.ts';
import type { JournalNode } from '../../../support/postgres/journal-node.ts';
import { serverVersions } from '../../../support/postgres/postgres-programs.ts';
import {
  code,
  LONG_MS,
  ONE,
  one,
  TWO,
  two,
  TwoNodes,
} from '../../../support/postgres/two-nodes.ts';
import { appendBeside, change, SET_MS, timerAt } from '../../../support/timer-writes.ts';

const MOVED = 'SVC_ENTITY_MOVED';

describe.each(serverVersions())('PostgreSQL %s', (server) => {
  const nodes = new TwoNodes(server);

  describe('a node without a slice', () => {
    test('reads what others have stored, and is told to try again where it writes', async () => {
      expect(await nodes.b.journal.read(one, 0, 9)).toEqual([recordOf(1)]);
      expect(await code(append(nodes.b.journal, one, recordOf(2)))).toBe(MOVED);
      expect(await code(keep(nodes.b.journal, one, [], answerTo('k', 1)))).toBe(MOVED);
      expect(await nodes.b.journal.read(one, 0, 9)).toEqual([recordOf(1)]);
    });

    test('does not claim it, and so keeps its owner from nothing', async () => {
      const before = await nodes.epochOf(ONE);
      await nodes.b.journal.read(one, 0, 9);
      expect(await code(append(nodes.b.journal, one, recordOf(2)))).toBe(MOVED);
      expect(await nodes.epochOf(ONE)).toBe(before);
      expect(await append(nodes.a.journal, one, recordOf(2))).toBeUndefined();
    });

    test('does not claim it either if it takes it for its own, and finds out who has it', async () => {
      nodes.b.table.assign([[ONE, nodes.b.number]]);
      const before = await nodes.epochOf(ONE);
      expect(await code(append(nodes.b.journal, one, recordOf(2)))).toBe(MOVED);
      expect(await nodes.epochOf(ONE)).toBe(before);
      expect(nodes.b.table.acquisitionOf(ONE)).toBeUndefined();
      await nodes.b.reported('look');
      expect(await append(nodes.a.journal, one, recordOf(2))).toBeUndefined();
    });
  });

  describe('a node that gains a slice', () => {
    test('goes on after what the former owner has stored', async () => {
      expect(await nodes.b.journal.read(one, 0, 9)).toEqual([recordOf(1)]);
      await nodes.move([ONE], nodes.b, [nodes.a, nodes.b]);
      expect(await nodes.b.journal.read(one, 0, 9)).toEqual([recordOf(1)]);
      expect(nodes.b.journal.cluster.headOf('Cart', 'one')).toEqual([ONE, 1]);
      expect(await append(nodes.b.journal, one, recordOf(2))).toBeUndefined();
      expect(await append(nodes.a.journal, two, recordOf(1))).toBeUndefined();
      expect(await nodes.a.journal.read(one, 0, 9)).toEqual([recordOf(1), recordOf(2)]);
    });

    test('reads what the former owner was committing', async () => {
      await nodes.held.hold();
      const writing = append(nodes.a.journal, one, recordOf(2));
      await nodes.held.waiting();
      const moving = nodes.move([ONE], nodes.b, [nodes.a, nodes.b]);
      await nodes.held.blocked();
      await nodes.held.release();
      await moving;
      expect(await nodes.b.journal.read(one, 0, 9)).toEqual([recordOf(1), recordOf(2)]);
      expect(await writing).toBeUndefined();
    });

    test('claims it only once a group is stored, and not in the midst of its transaction', async () => {
      const blocker = await nodes.journals.session();
      await blocker.query({ text: 'BEGIN' });
      await blocker.query({ text: 'LOCK TABLE svc.timer IN EXCLUSIVE MODE' });
      // The connection that reads is made.
      expect(await nodes.a.journal.read(one, 0, 9)).toEqual([recordOf(1)]);
      const order: string[] = [];
      const timers = { changes: [timerAt('t', SET_MS)] };
      const writing = appendBeside(nodes.a.journal, one, [recordOf(2)], { timers }).then(
        (failure) => order.push(failure?.code ?? 'stored'),
      );
      await nodes.held.blocked();
      const three = sliceOf('Cart', 'three');
      await nodes.move([three], nodes.a);
      const reading = nodes.a.journal
        .read({ component: 'Cart', id: 'three' }, 0, 9)
        .then(() => order.push('read'));
      await nodes.held.hold();
      await blocker.query({ text: 'ROLLBACK' });
      await blocker.close();
      await nodes.held.waiting();
      for (let n = 0; n < 50; n++) await nodes.epochOf(three);
      expect(order).toEqual([]);
      await nodes.held.release();
      await Promise.all([writing, reading]);
      expect(order.toSorted()).toEqual(['read', 'stored']);
    });
  });

  describe('a node that loses a slice', () => {
    test('stores nothing in it, finds out who has it, and goes on with its other slices', async () => {
      await nodes.move([ONE], nodes.b);
      const outcomes = [
        append(nodes.a.journal, one, recordOf(2)),
        append(nodes.a.journal, two, recordOf(1)),
        append(nodes.a.journal, one, recordOf(3)),
        keep(nodes.a.journal, one, [], answerTo('k', 1)),
      ];
      expect(await Promise.all(outcomes.map(code))).toEqual([MOVED, undefined, MOVED, MOVED]);
      expect(nodes.a.table.acquisitionOf(ONE)).toBeUndefined();
      expect(nodes.a.table.acquisitionOf(TWO)).toBe(1);
      await nodes.a.reported('look');
      expect(await append(nodes.a.journal, two, recordOf(2))).toBeUndefined();
      expect(await append(nodes.b.journal, one, recordOf(2))).toBeUndefined();
      expect(await nodes.a.journal.read(one, 0, 9)).toEqual([recordOf(1), recordOf(2)]);
      expect(nodes.a.reports.map(({ kind }) => kind)).not.toContain('ended');
    });

    test('repeats what belongs to its other slices if the group was a transaction', async () => {
      await nodes.move([ONE], nodes.b);
      const outcomes = [
        append(nodes.a.journal, one, recordOf(2)),
        appendBeside(nodes.a.journal, two, [recordOf(1)], {
          timers: { changes: [timerAt('t', SET_MS)] },
        }),
      ];
      expect(await Promise.all(outcomes.map(code))).toEqual([MOVED, undefined]);
      expect(await nodes.journals.number('SELECT count(*) FROM svc.timer')).toBe(1);
    });

    test('sends nothing of it that is still queued, in the order in which it was queued', async () => {
      await nodes.held.hold();
      const order: number[] = [];
      const outcomes = [2, 3].map(async (seq) => {
        const outcome = await code(append(nodes.a.journal, one, recordOf(seq)));
        order.push(seq);
        return outcome;
      });
      await nodes.held.waiting();
      outcomes.push(
        code(append(nodes.a.journal, one, recordOf(4))),
        code(append(nodes.a.journal, two, recordOf(1))),
      );
      nodes.a.table.assign([[ONE, nodes.b.number]]);
      await nodes.held.release();
      expect(await Promise.all(outcomes)).toEqual([undefined, undefined, MOVED, undefined]);
      expect(order).toEqual([2, 3]);
      expect(await nodes.a.journal.read(one, 0, 9)).toHaveLength(3);
    });

    test('stores nothing that was queued before, when it owns the slice again', async () => {
      await nodes.held.hold();
      const first = append(nodes.a.journal, two, recordOf(1));
      await nodes.held.waiting();
      const queued = [
        keep(nodes.a.journal, one, [], answerTo('before', 1)),
        append(nodes.a.journal, one, recordOf(2)),
      ];
      await nodes.move([ONE], nodes.b, [nodes.a, nodes.b]);
      await nodes.move([ONE], nodes.a, [nodes.a, nodes.b]);
      await nodes.held.release();
      expect(await first).toBeUndefined();
      expect(await Promise.all(queued.map(code))).toEqual([MOVED, MOVED]);
      expect(await nodes.a.journal.answer(one, 'before')).toBeUndefined();
      expect(await append(nodes.a.journal, one, recordOf(2))).toBeUndefined();
    });

    test('goes on after what others have stored, when it owns the slice again', async () => {
      await nodes.move([ONE], nodes.b, [nodes.a, nodes.b]);
      expect(await append(nodes.b.journal, one, recordOf(2))).toBeUndefined();
      await nodes.move([ONE], nodes.a, [nodes.a, nodes.b]);
      expect(await nodes.a.journal.read(one, 0, 9)).toEqual([recordOf(1), recordOf(2)]);
      expect(await append(nodes.a.journal, one, recordOf(3))).toBeUndefined();
      expect(await code(append(nodes.b.journal, one, recordOf(4)))).toBe(MOVED);
    });

    test('goes on under another number, once it has joined again', async () => {
      await nodes.move([ONE, TWO], nodes.b);
      nodes.a.table.join(103);
      expect(await code(append(nodes.a.journal, one, recordOf(2)))).toBe(MOVED);
      await nodes.journals.database.sql(
        'UPDATE svc.slice SET owner = 103, epoch = epoch + 1 WHERE slice = $1',
        [TWO],
      );
      nodes.a.table.assign([[TWO, 103]]);
      nodes.b.table.assign([[TWO, 103]]);
      expect(await append(nodes.a.journal, two, recordOf(1))).toBeUndefined();
      expect(await append(nodes.b.journal, one, recordOf(2))).toBeUndefined();
    });
  });

  describe('a detached append', () => {
    // oxlint-disable-next-line unicorn/consistent-function-scoping -- only these tests use it
    const retry = async (node: JournalNode, of: EntityRef): Promise<string | undefined> => {
      const number = await nodes.journals.number('SELECT number FROM svc.timer');
      const attempts = await nodes.journals.number('SELECT attempts FROM svc.timer');
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
      expect(await change(nodes.a.journal, one, timerAt('t', SET_MS))).toBeUndefined();
      await nodes.move([ONE], nodes.b, [nodes.a, nodes.b]);
      expect(await retry(nodes.a, one)).toBeUndefined();
      expect(await retry(nodes.b, two)).toBeUndefined();
    });

    test('is tried with another slice if the node has lost the first one', async () => {
      expect(await change(nodes.a.journal, one, timerAt('t', SET_MS))).toBeUndefined();
      await nodes.move([ONE], nodes.b);
      expect(await retry(nodes.a, one)).toBeUndefined();
    });

    test('has moved if the node owns no slice', async () => {
      expect(await change(nodes.a.journal, one, timerAt('t', SET_MS))).toBeUndefined();
      await nodes.move([ONE, TWO], nodes.b);
      expect(await retry(nodes.a, one)).toBe(MOVED);
      expect(await retry(nodes.a, one)).toBe(MOVED);
      expect(await retry(nodes.b, one)).toBeUndefined();
    });
  });

  describe('the owners of slices', () => {
    test('are known to the threads of a node, which wait for changes', async () => {
      const { cluster } = nodes.a.journal;
      expect(cluster.self).toBe(nodes.a.number);
      expect(cluster.ownerOf('Cart', 'one')).toBe(nodes.a.number);
      const { version } = cluster;
      const changed = cluster.changed(version, LONG_MS);
      nodes.a.table.assign([[ONE, nodes.b.number]]);
      await changed;
      expect(cluster.version).not.toBe(version);
      expect(cluster.ownerOf('Cart', 'one')).toBe(nodes.b.number);
      await cluster.changed(cluster.version, 1);
      cluster.advance(ONE, 12);
      cluster.advance(ONE, 11);
      expect(cluster.headOf('Cart', 'one')).toEqual([ONE, 12]);
      cluster.look();
      await nodes.a.reported('look');
    });
  });
});
