// ViewStatuses: how the reports of views and the journal make lag and progress.
import { expect, test } from 'vitest';
import type { Feed } from '../../../host/engine/needs/feed.ts';
import { ViewStatuses } from '../../../host/service/view-statuses.ts';
import { MemoryJournal } from '../../../host/storage/memory/memory-journal.ts';
import type { ViewReport } from '../../../host/views/view-report.ts';
import { append, recordOf } from '../../suites/journal-suite.ts';

const REPORT: ViewReport = {
  id: 'orders',
  definition: 'ab'.repeat(32),
  state: 'live',
  position: '',
  problem: undefined,
  skips: [],
};

async function journalOf(...components: readonly string[]): Promise<Feed> {
  const journal = new MemoryJournal();
  for (const [index, component] of components.entries()) {
    const record = { ...recordOf(1), timeMs: 1_000 * (index + 1) };
    // oxlint-disable-next-line no-await-in-loop -- in this order
    expect(await append(journal, { component, id: String(index) }, record)).toBeUndefined();
  }
  return journal.feed();
}

function statuses(feed: Feed | undefined, ...reports: readonly Partial<ViewReport>[]) {
  return new ViewStatuses({
    reports: () => reports.map((report) => ({ ...REPORT, ...report })),
    declared: () => [{ id: 'orders', sources: ['order'] }],
    openFeed: () => feed,
    nowMs: () => 10_000,
  });
}

test('the lag is the age of the oldest event of its sources that is not folded', async () => {
  const feed = await journalOf('other', 'order', 'other', 'order');
  const positions = [0, 1, 2, 3, 4].map((count) =>
    count === 0 ? feed.start : feed.read(feed.start, count, new Set()).position,
  );
  const read = (position: string) => {
    const [status] = statuses(feed, { position }).read();
    return [status!.lagRecords, status!.lagSeconds, status!.progress];
  };
  expect(read('')).toEqual([4, 8, 0]);
  expect(read(positions[1]!)).toEqual([3, 8, 0.25]);
  expect(read(positions[2]!)).toEqual([2, 6, 0.5]);
  expect(read(positions[4]!)).toEqual([0, 0, 1]);
});

test('only records of other components are no lag in time', async () => {
  const feed = await journalOf('other', 'other');
  expect(statuses(feed, {}).read()).toMatchObject([{ lagRecords: 2, lagSeconds: 0 }]);
});

test('an empty journal is folded', async () => {
  expect(statuses(await journalOf(), { state: 'starting' }).read()).toMatchObject([
    { state: 'missing', lagRecords: 0, lagSeconds: 0, progress: 1 },
  ]);
});

test('nothing is known before the journal is open, and nothing is opened without views', () => {
  expect(statuses(undefined, {}).read()).toEqual([]);
  const needs = { declared: () => [], openFeed: () => expect.unreachable(), nowMs: () => 0 };
  expect(new ViewStatuses({ ...needs, reports: () => [] }).read()).toEqual([]);
});

test('a journal that cannot be read makes no failure of readiness', () => {
  const needs = {
    declared: () => [],
    reports: () => [REPORT],
    nowMs: () => 0,
    openFeed: (): Feed => {
      throw new Error('it is torn');
    },
  };
  expect(new ViewStatuses(needs).read()).toEqual([]);
});

test('what a view has stopped at, and what it skips', async () => {
  const entity = { component: 'order', id: 'a' };
  const feed = await journalOf();
  const stopped = { kind: 'stopped', at: { entity, seq: 3 }, reason: 'it trapped' } as const;
  const skips = [{ entity, seq: 2, reason: 'known', timeMs: 5 }];
  expect(statuses(feed, { state: 'stopped', problem: stopped, skips }).read()).toMatchObject([
    {
      state: 'stopped',
      problem: {
        code: 'SVC_VIEW_STOPPED',
        reason: 'it trapped',
        event: { component: 'order', id: 'a', seq: 3 },
      },
      skipped: [{ component: 'order', id: 'a', seq: 2, reason: 'known', timeMs: 5 }],
    },
  ]);
  const failing = { kind: 'failing', code: 'SVC_DISK_FULL', reason: 'full' } as const;
  expect(statuses(feed, { problem: failing }).read()).toMatchObject([
    { state: 'live', problem: { code: 'SVC_DISK_FULL', reason: 'full', event: null } },
  ]);
});
