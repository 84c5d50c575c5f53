// ViewStatuses: how the reports of views and the journal make lag and progress.
import { expect, test, vi } from 'vitest';
import type { Feed, FeedPage } from '../../../host/engine/needs/feed.ts';
import { ViewStatuses } from '../../../host/service/view-statuses.ts';
import type { MemoryFeed } from '../../../host/storage/memory/memory-feed.ts';
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

async function journalOf(...components: readonly string[]): Promise<MemoryFeed> {
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

test('the age that a feed gives later is shown from the next look on, and one that it cannot give is not', async () => {
  const memory = await journalOf('order');
  let coming = Promise.withResolvers<FeedPage>();
  let reads = 0;
  const feed: Feed = {
    start: memory.start,
    end: () => memory.end(),
    endOf: () => memory.endOf(),
    hasReached: (...positions) => memory.hasReached(...positions),
    count: (...positions) => memory.count(...positions),
    parse: (text) => memory.parse(text),
    mark: (position) => memory.mark(position),
    advancedPast: (position) => memory.advancedPast(position),
    close: () => memory.close(),
    read() {
      reads++;
      return coming.promise;
    },
  };
  const read = statuses(feed, { position: '' });
  const age = () => read.read()[0]!.lagSeconds;
  expect([age(), age()]).toEqual([0, 0]);
  expect(reads).toBe(1);
  coming.resolve(memory.read(memory.start, 1, new Set(['order'])));
  await vi.waitFor(() => expect(age()).toBe(9));
  coming = Promise.withResolvers();
  // A look at the page before may not have ended.
  coming.promise.catch(() => {});
  coming.reject(new Error('The database is away.'));
  await vi.waitFor(() => expect(age()).toBe(0));
});

test('the age of an event that a view has folded meanwhile does not grow, and is forgotten at the end', async () => {
  const memory = await journalOf('order', 'order', 'order');
  const [first, last] = [1, 3].map(
    (count) => memory.read(memory.start, count, new Set()).position,
  ) as [string, string];
  const answer = Promise.withResolvers<FeedPage>();
  const feed = Object.assign(Object.create(memory) as Feed, {
    start: memory.start,
    end: () => memory.end(),
    count: (from: string, to: string) => memory.count(from, to),
    read: () => answer.promise,
  });
  let nowMs = 10_000;
  let position = '';
  const read = new ViewStatuses({
    reports: () => [{ ...REPORT, position }],
    declared: () => [{ id: 'orders', sources: ['order'] }],
    openFeed: () => feed,
    nowMs: () => nowMs,
  });
  const age = () => read.read()[0]!.lagSeconds;
  expect(age()).toBe(0);
  answer.resolve(memory.read(memory.start, 1, new Set(['order'])));
  await vi.waitFor(() => expect(age()).toBe(9));
  nowMs = 3_600_000;
  expect(age()).toBe(3_599);
  position = first;
  expect(age()).toBe(9);
  position = last;
  expect(age()).toBe(0);
  position = first;
  expect(age()).toBe(0);
});
