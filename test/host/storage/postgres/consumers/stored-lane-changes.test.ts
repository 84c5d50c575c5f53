// Changes of lanes and timers in a database by a tool, beside a node that uses the journal.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { StoredLane } from '../../../../../host/engine/needs/consumers.ts';
import {
  type ChangeableJournal,
  changeJournal,
} from '../../../../../host/storage/journal-administration.ts';
import { inspectConsumers, inspectTimers } from '../../../../../host/storage/journal-reading.ts';
import { type JournalNode, JournalNodes } from '../../../../support/postgres/journal-nodes.ts';
import { PostgresServer } from '../../../../support/postgres/postgres-server.ts';

const LEDGER = { id: 'ledger', start: 'beginning' } as const;
const SOON = { timeout: 10_000 };

const entityOf = (id: string) => ({ component: 'cart', id });
const laneOf = (id: string, lane: Partial<StoredLane> = {}): StoredLane => ({
  entity: entityOf(id),
  seq: 3,
  attempts: 2,
  round: 1,
  nextMs: undefined,
  reason: 'no',
  ...lane,
});

let nodes: JournalNodes;
let node: JournalNode;
let noticed = 0;

beforeAll(async () => {
  nodes = await JournalNodes.make(await PostgresServer.shared('18'));
  [node] = (await nodes.startServing(1)) as [JournalNode];
  node.opened.cluster.onWork(() => noticed++);
});
afterAll(() => nodes.close());

const changed = (change: (journal: ChangeableJournal) => Promise<boolean>) =>
  changeJournal(node.opened.location, change);

const skip = (id: string, seq: number) =>
  changed(({ lanes: all }) => all.skipInLane('ledger', entityOf(id), seq, 'by hand'));

async function lanes(): Promise<readonly StoredLane[]> {
  const inspection = inspectConsumers(node.opened.location);
  const page = await inspection.lanes(LEDGER.id, {}, 0, 100);
  inspection.close();
  return page.lanes.toSorted((a, b) => (a.entity.id < b.entity.id ? -1 : 1));
}

beforeEach(async () => {
  await nodes.database.sql('DELETE FROM svc.lane');
  const position = node.opened.lastPosition();
  const parked = [laneOf('a'), laneOf('b'), laneOf('c', { attempts: 1, nextMs: 1 })];
  await node.opened.settleConsumer(LEDGER, { position, lanes: parked, rejoined: [] });
});

test('a parked event is tried again, and the node notices it with a renewal of its lease', async () => {
  const before = noticed;
  expect(await changed(({ lanes: all }) => all.retryLane('ledger', entityOf('a')))).toBe(true);
  expect(await lanes()).toEqual([
    laneOf('a', { attempts: 0, nextMs: expect.any(Number), reason: undefined }),
    laneOf('b'),
    laneOf('c', { attempts: 1, nextMs: 1 }),
  ]);
  await expect.poll(() => noticed, SOON).toBe(before + 1);
  // It is not parked any more, and others never were.
  for (const id of ['a', 'c', 'missing'])
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect(await changed(({ lanes: all }) => all.retryLane('ledger', entityOf(id)))).toBe(false);
});

test('a parked event is skipped where it is parked, with its reason', async () => {
  expect(await skip('a', 2)).toBe(false);
  expect(await skip('c', 3)).toBe(false);
  expect(await skip('a', 3)).toBe(true);
  const after = { seq: 4, attempts: 0, round: 0, nextMs: expect.any(Number), reason: 'by hand' };
  expect((await lanes())[0]).toEqual(laneOf('a', after));
});

test('all parked events are tried again, and a damaged lane continues only after a skip', async () => {
  await nodes.database.sql(`UPDATE svc.lane SET seq = 9 WHERE id = 'b'`);
  const retry = () => changed(({ lanes: all }) => all.retryLanes('ledger'));
  expect(await retry()).toBe(true);
  expect(await retry()).toBe(false);
  expect((await lanes()).map(({ entity, nextMs }) => [entity.id, nextMs === undefined])).toEqual([
    ['a', false],
    ['c', false],
  ]);
  await expect(
    changed(({ lanes: all }) => all.retryLane('ledger', entityOf('b'))),
  ).rejects.toMatchObject({ code: 'SVC_JOURNAL_CORRUPT' });
  expect(await changed(({ lanes: all }) => all.skipInLane('ledger', entityOf('b'), 5, 'x'))).toBe(
    true,
  );
  expect((await lanes())[1]).toMatchObject({ entity: entityOf('b'), seq: 6 });
});

test('a consumer that has handled nothing is refused', async () => {
  await expect(changed(({ lanes: all }) => all.retryLanes('other'))).rejects.toMatchObject({
    code: 'SVC_NOT_IN_JOURNAL',
  });
});

test('a timer is cancelled beside the node', async () => {
  const schedule = { kind: 'every', everyMs: 3_600_000 } as const;
  const nightly = { id: 'nightly', target: entityOf('a'), command: 'go', input: 'null', schedule };
  await node.opened.reconcileSchedules([nightly], 1_000);
  const cancel = () => changed((journal) => journal.cancelTimer(undefined, 'nightly'));
  expect(await changed((journal) => journal.retryTimer(undefined, 'nightly', 1))).toBe(false);
  expect(await cancel()).toBe(true);
  expect(await cancel()).toBe(false);
  const inspection = inspectTimers(node.opened.location);
  expect((await inspection.list({}, 0, 10)).timers).toEqual([]);
  inspection.close();
  const [row] = await nodes.database.sql('SELECT sum(timers)::int AS timers FROM svc.timer_count');
  expect(row).toEqual({ timers: 0 });
});
