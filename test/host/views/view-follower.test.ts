import { describe, expect, test } from 'vitest';
import type { GuestViews } from '../../../model/guest.ts';
import type { ViewStore } from '../../../host/engine/needs/views.ts';
import { VIEW_LIMITS_DEFAULT } from '../../../model/view-limits.ts';
import { MemoryJournal } from '../../../host/storage/memory/memory-journal.ts';
import { MemoryViews } from '../../../host/storage/memory/memory-views.ts';
import type { FoldedView } from '../../../host/views/folded-view.ts';
import { SharedBuilding } from '../../../host/views/shared-building.ts';
import { ViewFollower, type ViewObserver } from '../../../host/views/view-follower.ts';
import { append, recordOf } from '../../suites/journal-suite.ts';

const entity = { component: 'a', id: 'x' };
const VIEW: FoldedView = {
  id: 'counts',
  sources: new Set(['a']),
  hasKeys: false,
  stored: { id: 'counts', rowType: 't', definition: '0123456789abcdef', indexes: [] },
};
/** Counts the events of each row. */
const counting: Pick<GuestViews, 'fold'> = {
  fold: (_view, rows, events) =>
    rows.map(({ key, json }, at) => ({
      key,
      json: String(Number(json ?? 0) + events.filter((event) => event.rows.includes(at)).length),
    })),
};

class Followed implements ViewObserver {
  readonly seen: string[] = [];
  readonly #waiting: { readonly entry: string; readonly resolve: () => void }[] = [];

  folded(position: string): void {
    this.#note(`folded ${position}`);
  }
  building(reason: string | undefined): void {
    this.#note(`building: ${reason ?? 'nothing there'}`);
  }
  live(): void {
    this.#note('live');
  }

  until(entry: string): Promise<void> {
    if (this.seen.includes(entry)) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push({ entry, resolve });
    });
  }

  #note(entry: string): void {
    this.seen.push(entry);
    for (const waiting of this.#waiting) if (waiting.entry === entry) waiting.resolve();
  }
}

function follower(journal: MemoryJournal, store: ViewStore, observer: ViewObserver) {
  const rests: number[] = [];
  const pace = {
    async rest(tookMs: number) {
      rests.push(tookMs);
    },
  };
  const feed = journal.feed();
  const guest = counting as GuestViews;
  const limits = VIEW_LIMITS_DEFAULT;
  const opened = ViewFollower.open({
    view: VIEW,
    guest,
    feed,
    store,
    limits,
    building: new SharedBuilding(feed, pace),
    observer,
  });
  return { opened, feed, rests };
}

describe('a view that is followed', () => {
  test('is built, then live, and has each event soon after it is stored', async () => {
    const journal = new MemoryJournal();
    const store = new MemoryViews();
    const observer = new Followed();
    await append(journal, entity, recordOf(1), recordOf(2));
    const { opened, feed, rests } = follower(journal, store, observer);
    const followed = await opened;
    const reader = store.reader(VIEW.stored);
    await expect(async () => reader.get('x')).rejects.toMatchObject({
      code: 'SVC_VIEW_REBUILDING',
    });
    const stop = new AbortController();
    await followed.build(stop.signal);
    expect(observer.seen).toEqual(['building: nothing there', 'folded 1', 'folded 2', 'live']);
    expect(rests.length).toBeGreaterThan(0);
    expect(await reader.get('x')).toEqual({ key: 'x', json: '2' });
    const following = followed.follow(stop.signal);
    await append(journal, entity, recordOf(3));
    await observer.until('folded 3');
    expect(await reader.get('x')).toEqual({ key: 'x', json: '3' });
    stop.abort();
    feed.close();
    await following;
    followed.close();
  });

  test('goes on where its rows are, and is not built again', async () => {
    const journal = new MemoryJournal();
    const store = new MemoryViews();
    await append(journal, entity, recordOf(1));
    const stop = new AbortController();
    const first = await follower(journal, store, new Followed()).opened;
    await first.build(stop.signal);
    first.close();
    await append(journal, entity, recordOf(2));
    const observer = new Followed();
    const { opened, feed } = follower(journal, store, observer);
    const second = await opened;
    await second.build(stop.signal);
    const following = second.follow(stop.signal);
    await observer.until('folded 2');
    expect(observer.seen[0]).toBe('folded 2');
    stop.abort();
    feed.close();
    await following;
    expect(await store.reader(VIEW.stored).get('x')).toEqual({ key: 'x', json: '2' });
    second.close();
  });

  test('is built again when its rows are of another journal', async () => {
    const store = new MemoryViews();
    const longer = new MemoryJournal();
    await append(longer, entity, recordOf(1), recordOf(2), recordOf(3));
    const stop = new AbortController();
    const first = await follower(longer, store, new Followed()).opened;
    await first.build(stop.signal);
    first.close();
    const shorter = new MemoryJournal();
    await append(shorter, entity, recordOf(1));
    const observer = new Followed();
    const second = await follower(shorter, store, observer).opened;
    await second.build(stop.signal);
    expect(observer.seen[0]).toBe('building: they are of another journal');
    expect(await store.reader(VIEW.stored).get('x')).toEqual({ key: 'x', json: '1' });
    second.close();
  });

  test('stops building when it is told to, and is not live', async () => {
    const journal = new MemoryJournal();
    const store = new MemoryViews();
    await append(journal, entity, recordOf(1));
    const observer = new Followed();
    const followed = await follower(journal, store, observer).opened;
    await followed.build(AbortSignal.abort());
    expect(observer.seen).toEqual(['building: nothing there']);
    followed.close();
  });
});
