// Several views that are built at the same time, with one walk through the journal.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SvcError } from '@svc/kit/svc-error';
import type { Feed } from '../../../host/engine/needs/feed.ts';
import type { GuestViews } from '../../../model/guest.ts';
import type { JournalRecord } from '../../../model/entity.ts';
import { GuestFault } from '../../../model/guest-fault.ts';
import { VIEW_LIMITS_DEFAULT } from '../../../model/view-limits.ts';
import { MemoryJournal } from '../../../host/storage/memory/memory-journal.ts';
import { MemoryViews } from '../../../host/storage/memory/memory-views.ts';
import type { FoldedView } from '../../../host/views/folded-view.ts';
import { type PageSizes, SharedBuilding } from '../../../host/views/shared-building.ts';
import { SharedPages } from '../../../host/views/shared-pages.ts';
import { ViewFollower } from '../../../host/views/view-follower.ts';
import { ViewStopped } from '../../../host/views/view-stopped.ts';
import { append } from '../../suites/journal-suite.ts';
import { ALL_KEYS } from '../../suites/view-store/views-under-test.ts';

const COMPONENTS = ['a', 'b', 'c'];
const SIZES: PageSizes = { building: 8, following: 8, rowsInMemory: 5 };

function viewOf(id: string, ...sources: readonly string[]): FoldedView {
  const definition = Buffer.from(id.padEnd(8, '.')).toString('hex');
  const stored = { id, rowType: 't', definition, indexes: [] };
  return { id, sources: new Set(sources), hasKeys: false, stored };
}

/** A row is the list of its events. A view stops at an event that has its id. */
const listing: Pick<GuestViews, 'fold'> = {
  fold(view, rows, events) {
    const lists = rows.map(({ json }) =>
      json === undefined ? [] : (JSON.parse(json) as string[]),
    );
    for (const { event, rows: concerned } of events) {
      if (event.event.json === JSON.stringify(view)) throw new GuestFault('trap', 'unreachable');
      for (const at of concerned) lists[at]!.push(`${event.seq} ${event.event.json}`);
    }
    return rows.map(({ key }, at) => ({ key, json: JSON.stringify(lists[at]) }));
  },
};

/** What happened to an entity of a component: a deletion, or an event with a text. */
type Happened = readonly [component: number, id: number, text: string | undefined];

async function journalOf(history: readonly Happened[]): Promise<MemoryJournal> {
  const journal = new MemoryJournal();
  const lastSeq = new Map<string, number>();
  for (const [component, id, text] of history) {
    const entity = { component: COMPONENTS[component]!, id: `${COMPONENTS[component]}${id}` };
    const seq = (lastSeq.get(entity.id) ?? 0) + 1;
    lastSeq.set(entity.id, seq);
    const origin = { seq, timeMs: 1_700_000_000_000 + seq };
    const record: JournalRecord =
      text === undefined
        ? { kind: 'deleted', ...origin }
        : { kind: 'event', ...origin, event: { manifest: 'e', json: JSON.stringify(text) } };
    const failure = await append(journal, entity, record);
    if (failure !== undefined) throw failure;
  }
  return journal;
}

/** The feed, which counts what is read of it. */
function counted(feed: Feed, read: Feed['read'] = (...page) => feed.read(...page)) {
  const counts = { reads: 0 };
  const counting: Feed = {
    start: feed.start,
    end: () => feed.end(),
    endOf: (...entities) => feed.endOf(...entities),
    hasReached: (...positions) => feed.hasReached(...positions),
    count: (...positions) => feed.count(...positions),
    parse: (text) => feed.parse(text),
    mark: (position) => feed.mark(position),
    advancedPast: (position) => feed.advancedPast(position),
    close: () => feed.close(),
    read(...page) {
      counts.reads++;
      return read(...page);
    },
  };
  return { feed: counting, counts };
}

/** Builds the views at the same time; returns for each how it has ended, and its rows if they are live. */
async function built(views: readonly FoldedView[], feed: Feed, store = new MemoryViews()) {
  const building = new SharedBuilding(feed, { rest: async () => {} }, SIZES);
  return Promise.all(
    views.map(async (view) => {
      const follower = await ViewFollower.open({
        view,
        guest: listing as GuestViews,
        feed,
        store,
        limits: VIEW_LIMITS_DEFAULT,
        building,
        observer: { folded() {}, building() {}, live() {} },
      });
      try {
        await follower.build(new AbortController().signal);
      } catch (error) {
        if (error instanceof ViewStopped) return error.at;
        if (error instanceof SvcError) return error.code;
        throw error;
      } finally {
        follower.close();
      }
      const reader = store.reader(view.stored);
      return (await reader.find(ALL_KEYS, 1_000)).rows;
    }),
  );
}

const VIEWS = [
  viewOf('all', ...COMPONENTS),
  viewOf('a', 'a'),
  viewOf('bc', 'b', 'c'),
  viewOf('too', ...COMPONENTS),
];

const happened = fc.tuple(
  fc.nat(2),
  fc.nat(3),
  fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom<string | undefined>('one', 'two') },
    { weight: 2, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom('all', 'a', 'bc') },
  ),
);

describe('views that are built at the same time', () => {
  test('have the rows that each has alone, or stop at the same event', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(happened, { maxLength: 80 }),
        fc.subarray(VIEWS, { minLength: 2 }),
        async (history, views) => {
          const journal = await journalOf(history);
          const alone: unknown[] = [];
          for (const view of views) alone.push(...(await built([view], journal.feed())));
          expect(await built(views, journal.feed())).toEqual(alone);
        },
      ),
      { numRuns: 200 },
    );
  });

  test('read each page of the journal once', async () => {
    const history = Array.from({ length: 100 }, (_, at): Happened => [at % 3, at % 4, 'one']);
    const journal = await journalOf(history);
    const one = counted(journal.feed());
    await built([VIEWS[0]!], one.feed);
    const four = counted(journal.feed());
    await built(VIEWS, four.feed);
    // At the end each of them looks for more by itself.
    expect(four.counts.reads).toBeLessThanOrEqual(one.counts.reads + VIEWS.length);
  });

  test('share pages again after one of them has gone on with smaller ones', async () => {
    const journal = await journalOf(Array.from({ length: 64 }, (): Happened => [0, 0, 'one']));
    const { feed, counts } = counted(journal.feed());
    const pages = new SharedPages(feed, 8);
    const sources = new Set(['a']);
    const [one, other] = [pages.join(sources), pages.join(sources)];
    const first = await one.read(feed.start, 8, sources);
    const half = await other.read(feed.start, 3, sources);
    expect((await other.read(half.position, 8, sources)).position).toBe(first.position);
    expect(counts.reads).toBe(3);
    await one.read(first.position, 8, sources);
    await other.read(first.position, 8, sources);
    expect(counts.reads).toBe(4);
    one.leave();
    expect((await other.read(half.position, 8, sources)).records).toHaveLength(8);
  });

  test('keep no page in memory that has come after all but one have left', async () => {
    const journal = await journalOf(Array.from({ length: 8 }, (): Happened => [0, 0, 'one']));
    const { feed, counts } = counted(journal.feed());
    const pages = new SharedPages(feed, 8);
    const sources = new Set(['a']);
    const [one, other] = [pages.join(sources), pages.join(sources)];
    const coming = one.read(feed.start, 8, sources);
    other.leave();
    await coming;
    pages.join(sources);
    await one.read(feed.start, 8, sources);
    expect(counts.reads).toBe(2);
  });

  test('are not held up by a damaged record of a component that they do not fold', async () => {
    const history = Array.from({ length: 30 }, (_, at): Happened => [at % 3, 0, `${at}`]);
    const journal = await journalOf(history);
    const memory = journal.feed();
    const { feed } = counted(memory, (after, limit, components) => {
      const page = memory.read(after, limit, components);
      const damaged = page.records.findIndex(({ record }) => {
        return record.kind === 'event' && record.event.json === '"12"';
      });
      if (damaged === -1) return page;
      if (after === '12') throw new SvcError('SVC_JOURNAL_CORRUPT', 'The record is damaged.');
      return memory.read(after, 12 - Number(after), components);
    });
    const views = [viewOf('all', ...COMPONENTS), viewOf('a', 'a'), viewOf('bc', 'b', 'c')];
    const [all, a, bc] = await built(views, feed);
    expect([all, a]).toEqual(['SVC_JOURNAL_CORRUPT', 'SVC_JOURNAL_CORRUPT']);
    expect([bc]).toEqual(await built([views[2]!], memory));
    expect(bc).toHaveLength(2);
  });
});

describe('turns', () => {
  test('follow one another in the order in which they were asked for, with a rest after each', async () => {
    const done: string[] = [];
    const pace = {
      async rest() {
        await Promise.resolve();
        done.push('rest');
      },
    };
    const building = new SharedBuilding(new MemoryJournal().feed(), pace);
    const part = (name: string) =>
      building.turn(async () => {
        await Promise.resolve();
        done.push(name);
      });
    const failing = building.turn(() => Promise.reject(new Error('full')));
    await Promise.all([part('a'), part('b'), expect(failing).rejects.toThrow('full')]);
    expect(done).toEqual(['a', 'rest', 'b', 'rest']);
  });
});
