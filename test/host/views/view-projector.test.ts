// The projector when the store fails, which is not a fault of the view.
import { SvcError } from '@svc/kit/svc-error';
import type { LogEntry } from '@svc/kit/log-entry';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { GuestViews } from '../../../model/guest.ts';
import type { StoredView, ViewWriter } from '../../../host/engine/needs/views.ts';
import type { Feed, FeedPage } from '../../../host/engine/needs/feed.ts';
import { type ViewLimits, VIEW_LIMITS_DEFAULT } from '../../../model/view-limits.ts';
import { MemoryJournal } from '../../../host/storage/memory/memory-journal.ts';
import { MemoryViews } from '../../../host/storage/memory/memory-views.ts';
import { SharedView } from '../../../host/views/shared-view.ts';
import { ViewProjector } from '../../../host/views/view-projector.ts';
import type { ViewProblem } from '../../../host/views/view-report.ts';
import { append, recordOf } from '../../suites/journal-suite.ts';

const entity = { component: 'a', id: 'x' };
const folded = {
  id: 'counts',
  sources: new Set(['a']),
  hasKeys: false,
  stored: { id: 'counts', rowType: 't', definition: '0123456789abcdef', indexes: [] },
};
/** Counts the events of each row. */
const guest: GuestViews = {
  keys: () => [],
  fold: (_view, rows, events) =>
    rows.map(({ key, json }, at) => ({
      key,
      json: String(Number(json ?? 0) + events.filter((event) => event.rows.includes(at)).length),
    })),
};

/** A store whose disk may be full. */
class FullViews extends MemoryViews {
  isFull = false;
  failed = 0;
  puts = 0;
  free = Infinity;

  override freeBytes(): number {
    return this.free;
  }

  override openWriter(view: StoredView): ViewWriter {
    const writer = super.openWriter(view);
    const put = writer.put.bind(writer);
    writer.put = (...given) => {
      if (!this.isFull) {
        this.puts++;
        return put(...given);
      }
      this.failed++;
      throw new SvcError('SVC_DISK_FULL', 'The disk is full.');
    };
    return writer;
  }
}

function projected(
  journal: MemoryJournal,
  store: MemoryViews,
  limits: Partial<ViewLimits> = {},
  feed: Feed = journal.feed(),
) {
  const logged: LogEntry[] = [];
  const problems: (ViewProblem | undefined)[] = [];
  const projector = new ViewProjector({
    guest,
    feed,
    store,
    limits: { ...VIEW_LIMITS_DEFAULT, ...limits },
    pace: { rest: async () => {} },
    log: (entry) => logged.push(entry),
    onProblem: (_view, problem) => problems.push(problem),
  });
  onTestFinished(() => projector.close());
  return { projector, logged, problems, view: { folded, shared: new SharedView() } };
}

afterEach(() => void vi.useRealTimers());

/** Lets the pause before the next attempt pass, once it has begun. */
async function pauseOver(): Promise<void> {
  await expect.poll(() => vi.getTimerCount()).toBeGreaterThan(0);
  await vi.advanceTimersToNextTimerAsync();
}

describe('a full disk', () => {
  test.each(['while a view follows', 'while it is built'])(
    '%s is reported once, and nothing is lost when there is space again',
    async (when) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const journal = new MemoryJournal();
      const store = new FullViews();
      const { projector, logged, problems, view } = projected(journal, store);
      await append(journal, entity, recordOf(1));
      store.isFull = when === 'while it is built';
      void projector.follow(view);
      await expect.poll(() => view.shared.state).toBe(store.isFull ? 'building' : 'live');
      store.isFull = true;
      await append(journal, entity, recordOf(2));
      for (let attempt = 1; attempt <= 5; attempt++) {
        await expect.poll(() => store.failed).toBe(attempt);
        // Queries and operators are not told of an event whose row is not stored.
        // oxlint-disable-next-line no-await-in-loop -- before the next attempt
        await expect
          .poll(() => view.shared.position)
          .toBe(when === 'while it is built' ? '0' : '1');
        // oxlint-disable-next-line no-await-in-loop -- before the next attempt
        await pauseOver();
      }
      const failing = { kind: 'failing', code: 'SVC_DISK_FULL', reason: 'The disk is full.' };
      expect(problems).toEqual([failing]);
      expect(logged.filter(({ level }) => level === 'error')).toEqual([
        {
          level: 'error',
          message: 'the view cannot be kept up to date, and is tried again',
          fields: { code: 'SVC_DISK_FULL', view: 'counts', reason: 'The disk is full.' },
        },
      ]);
      await expect.poll(() => store.failed).toBe(6);
      store.isFull = false;
      await pauseOver();
      vi.useRealTimers();
      await expect.poll(() => problems).toEqual([failing, undefined]);
      const reader = store.reader(folded.stored);
      await expect.poll(() => reader.get('x')).toEqual({ key: 'x', json: '2' });
    },
  );
});

test('the building of a view pauses while the disk has little space, and says so', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const journal = new MemoryJournal();
  const store = new FullViews();
  const { projector, logged, problems, view } = projected(journal, store);
  await append(journal, entity, recordOf(1));
  store.free = VIEW_LIMITS_DEFAULT.freeBytesMin - 1;
  void projector.follow(view);
  await expect.poll(() => view.shared.isPaused).toBe(true);
  const reason = expect.stringContaining('svc.views.free-bytes-min');
  expect(problems).toEqual([{ kind: 'paused', code: undefined, reason }]);
  expect(view.shared.state).toBe('building');
  vi.useRealTimers();
  store.free = VIEW_LIMITS_DEFAULT.freeBytesMin;
  await expect.poll(() => view.shared.state).toBe('live');
  expect([view.shared.isPaused, problems.at(-1)]).toEqual([false, undefined]);
  expect(logged.map(({ message }) => message)).toEqual([
    'the building of a view pauses',
    'the building of a view goes on',
    'the view is built',
  ]);
  // A view that is built follows whatever the disk has, until it is full.
  store.free = 0;
  await append(journal, entity, recordOf(2));
  await expect.poll(() => store.reader(folded.stored).get('x')).toMatchObject({ json: '2' });
});

test('a view warns once of a row that is larger than half of the limit', async () => {
  const journal = new MemoryJournal();
  const { projector, logged, view } = projected(journal, new MemoryViews(), {
    rowBytesMax: 5,
  });
  void projector.follow(view);
  for (let seq = 1; seq <= 150; seq++) await append(journal, entity, recordOf(seq));
  await expect.poll(() => view.shared.position).toBe('150');
  const warned = logged.filter(({ level }) => level === 'warn');
  expect(warned).toEqual([
    {
      level: 'warn',
      message: 'a row of a view has become large',
      fields: {
        view: 'counts',
        key: 'x',
        reason: expect.stringContaining('svc.views.row-bytes-max'),
      },
    },
  ]);
});

describe('a view that waits for a group', () => {
  const GROUP_MS = 5_000;

  async function following() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const journal = new MemoryJournal();
    const store = new FullViews();
    const { projector, view } = projected(journal, store, { groupMs: GROUP_MS });
    const ended = projector.follow(view);
    await expect.poll(() => view.shared.state).toBe('live');
    // Pages begin with one record, and double.
    for (let seq = 1; seq <= 3; seq++) await append(journal, entity, recordOf(seq));
    view.shared.hurry();
    await expect.poll(() => view.shared.position).toBe('3');
    store.puts = 0;
    await append(journal, entity, recordOf(4));
    await expect.poll(() => vi.getTimerCount()).toBe(1);
    return { projector, journal, store, view, ended };
  }

  test('folds the events of the time together, and writes a row once', async () => {
    const { journal, store, view } = await following();
    await append(journal, entity, recordOf(5));
    await vi.advanceTimersByTimeAsync(GROUP_MS - 1);
    expect([view.shared.position, store.puts]).toEqual(['3', 0]);
    await vi.advanceTimersByTimeAsync(1);
    await expect.poll(() => view.shared.position).toBe('5');
    expect(store.puts).toBe(1);
  });

  test('folds them at once when a reader waits for them, or has begun to wait before', async () => {
    const { journal, view } = await following();
    view.shared.hurry();
    await expect.poll(() => view.shared.position).toBe('4');
    expect(vi.getTimerCount()).toBe(0);
    view.shared.hurry();
    await append(journal, entity, recordOf(5));
    await expect.poll(() => view.shared.position).toBe('5');
    // The next one waits for a group again.
    await append(journal, entity, recordOf(6));
    await expect.poll(() => vi.getTimerCount()).toBe(1);
    expect(view.shared.position).toBe('5');
  });

  test('ends without folding them when it is closed', async () => {
    const { projector, view, ended } = await following();
    await projector.close();
    expect([await ended, view.shared.position, vi.getTimerCount()]).toEqual(['closed', '3', 0]);
  });
});

describe('a rebuild', () => {
  test('is not live while the former rows are looked for in a feed that answers later', async () => {
    const journal = new MemoryJournal();
    const feed = journal.feed();
    const store = new MemoryViews();
    await append(journal, entity, recordOf(1));
    const stored = { ...folded.stored, definition: 'fedcba9876543210' };
    const former = store.openWriter(stored);
    await former.put([], { position: '1', mark: '1' });
    while (!(await former.prepareIndexes(100)));
    await former.goLive();
    former.close();
    const { projector, view } = projected(journal, store, {}, feed);
    void projector.follow(view);
    await expect.poll(() => view.shared.state).toBe('live');
    const mark = Promise.withResolvers<string | undefined>();
    vi.spyOn(feed, 'mark').mockImplementation(() => mark.promise as never);
    expect(projector.rebuild(view)).toBe('under-way');
    await expect.poll(() => view.shared.position).toBe('');
    expect(view.shared.state).toBe('building');
    mark.resolve('1');
    await expect.poll(() => view.shared.state).toBe('live');
  });

  test('that comes before the failure of a page does not wait for the pause after it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const journal = new MemoryJournal();
    const feed = journal.feed();
    const { projector, logged, view } = projected(journal, new MemoryViews(), {}, feed);
    const page = Promise.withResolvers<FeedPage>();
    const read = vi.spyOn(feed, 'read').mockImplementation(() => page.promise as never);
    void projector.follow(view);
    await expect.poll(() => read.mock.calls.length).toBe(1);
    projector.rebuild(view);
    read.mockRestore();
    page.reject(new Error('The database is away.'));
    await expect.poll(() => view.shared.state).toBe('live');
    expect(vi.getTimerCount()).toBe(0);
    expect(logged.map(({ message }) => message)).toContain('the view is built');
  });
});
