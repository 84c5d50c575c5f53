// BuildingRows, and the building of a view that keeps rows in memory: stops, ends and failures.
import { describe, expect, test } from 'vitest';
import type { GuestViews } from '../../../model/guest.ts';
import type { FoldedTo, RowChange } from '../../../host/engine/needs/views.ts';
import { VIEW_LIMITS_DEFAULT, type ViewLimits } from '../../../model/view-limits.ts';
import { MemoryJournal } from '../../../host/storage/memory/memory-journal.ts';
import { MemoryViews } from '../../../host/storage/memory/memory-views.ts';
import { BuildingRows, RowMemory, RowsNotStored } from '../../../host/views/building-rows.ts';
import { SharedBuilding } from '../../../host/views/shared-building.ts';
import { ViewFollower } from '../../../host/views/view-follower.ts';
import { append, recordOf } from '../../suites/journal-suite.ts';

const at = (position: string): FoldedTo => ({ position, mark: undefined });

/** A writer that remembers what it is given. */
function remembered() {
  const rows = new Map<string, string | undefined>([['old', '0']]);
  const puts: { readonly keys: readonly string[]; readonly position: string }[] = [];
  const reads: string[] = [];
  return {
    rows(keys: readonly string[]) {
      reads.push(...keys);
      return keys.map((key) => rows.get(key));
    },
    put(changes: readonly RowChange[], { position }: FoldedTo) {
      puts.push({ keys: changes.map(({ key }) => key), position });
      for (const { key, json } of changes) rows.set(key, json);
    },
    stored: rows,
    puts,
    reads,
  };
}

describe('rows of a building', () => {
  test('are stored once with the last position, and read from memory until then', async () => {
    const writer = remembered();
    const rows = new BuildingRows(writer, 3, new RowMemory());
    await rows.put([{ key: 'a', json: '1' }], at('1'));
    await rows.put([{ key: 'old', json: undefined }], at('2'));
    await rows.put([{ key: 'a', json: '2' }], at('3'));
    expect(await rows.rows(['b', 'a', 'old'])).toEqual([undefined, '2', undefined]);
    expect(writer.reads).toEqual(['b']);
    expect(writer.puts).toEqual([]);
    await rows.put([{ key: 'b', json: '1' }], at('4'));
    expect(writer.puts).toEqual([{ keys: ['a', 'old', 'b'], position: '4' }]);
    expect(await rows.rows(['a'])).toEqual(['2']);
    await rows.store();
    expect(writer.puts).toHaveLength(1);
    await rows.put([], at('5'));
    await rows.store();
    expect(writer.puts[1]).toEqual({ keys: [], position: '5' });
  });

  test('are stored before they take too much memory', async () => {
    const writer = remembered();
    const rows = new BuildingRows(writer, 1_000, new RowMemory());
    const json = `"${'x'.repeat(9 * 1024 * 1024)}"`;
    for (const key of ['a', 'a', 'b', 'c']) await rows.put([{ key, json }], at(key));
    expect(writer.puts.map(({ position }) => position)).toEqual([]);
    await rows.put([{ key: 'd', json }], at('d'));
    expect(writer.puts.map(({ position }) => position)).toEqual(['d']);
  });

  test('are stored before those of several views take too much memory', async () => {
    const memory = new RowMemory();
    const one = remembered();
    const other = remembered();
    const rows = [new BuildingRows(one, 1_000, memory), new BuildingRows(other, 1_000, memory)];
    const json = `"${'x'.repeat(9 * 1024 * 1024)}"`;
    for (const key of ['a', 'b', 'c']) await rows[0]!.put([{ key, json }], at(key));
    await rows[1]!.put([{ key: 'a', json }], at('a'));
    expect([one.puts.length, other.puts.length]).toEqual([0, 1]);
    // Those of a view that is closed take no memory.
    rows[0]!.discard();
    for (const key of ['b', 'c', 'd']) await rows[1]!.put([{ key, json }], at(key));
    expect([one.puts.length, other.puts.length]).toEqual([0, 1]);
  });

  test('that are not stored are forgotten, so that they are folded again', async () => {
    const writer = remembered();
    const rows = new BuildingRows(
      {
        ...writer,
        put() {
          throw new Error('full');
        },
      },
      1_000,
      new RowMemory(),
    );
    await rows.put([{ key: 'old', json: '1' }], at('1'));
    await expect(rows.store()).rejects.toMatchObject({ cause: new Error('full') });
    await expect(rows.store()).resolves.toBeUndefined();
    expect(await rows.rows(['old'])).toEqual(['0']);
    rows.keepNothing();
    await expect(rows.put([], at('2'))).rejects.not.toBeInstanceOf(RowsNotStored);
  });
});

const VIEW = {
  id: 'texts',
  sources: new Set(['a']),
  hasKeys: false,
  stored: { id: 'counts', rowType: 't', definition: '0123456789abcdef', indexes: [] },
};
/** The row of an entity is the text of its last event. */
const last: Pick<GuestViews, 'fold'> = {
  fold: (_view, rows, events) => {
    if (events.some(({ event }) => event.event.json.includes('"fail"'))) return 'cannot be read';
    return rows.map(({ key }, index) => ({
      key,
      json: events.findLast((event) => event.rows.includes(index))!.event.event.json,
    }));
  },
};

function follower(journal: MemoryJournal, store: MemoryViews, limits: ViewLimits) {
  const feed = journal.feed();
  return ViewFollower.open({
    view: VIEW,
    guest: last as GuestViews,
    feed,
    store,
    limits,
    building: new SharedBuilding(feed, { async rest() {} }),
    observer: { folded() {}, building() {}, live() {} },
  });
}

async function journalOf(...texts: readonly string[]): Promise<MemoryJournal> {
  const journal = new MemoryJournal();
  for (const [index, text] of texts.entries())
    await append(journal, { component: 'a', id: `e${index}` }, recordOf(1, `{"text":"${text}"}`));
  return journal;
}

describe('a building with rows in memory', () => {
  const { rowBytesMax } = VIEW_LIMITS_DEFAULT;

  test('stops at the event of a row that cannot be stored, and keeps the rows before it', async () => {
    const journal = await journalOf('one', 'two', 'x'.repeat(rowBytesMax), 'four');
    const store = new MemoryViews();
    const followed = await follower(journal, store, VIEW_LIMITS_DEFAULT);
    await expect(followed.build(new AbortController().signal)).rejects.toMatchObject({
      name: 'ViewStopped',
      at: { entity: { component: 'a', id: 'e2' }, seq: 1 },
    });
    followed.close();
    const writer = store.openWriter(VIEW.stored);
    expect(writer.rowCount).toBe(2);
    expect(writer.foldedTo?.position).toBe('2');
    writer.close();
  });

  test('keeps the rows before an event that cannot be folded', async () => {
    const journal = await journalOf('one', 'two', 'fail', 'four');
    const store = new MemoryViews();
    const followed = await follower(journal, store, VIEW_LIMITS_DEFAULT);
    await expect(followed.build(new AbortController().signal)).rejects.toMatchObject({
      at: { entity: { id: 'e2' } },
    });
    followed.close();
    const writer = store.openWriter(VIEW.stored);
    expect([writer.rowCount, writer.foldedTo?.position]).toEqual([2, '2']);
    writer.close();
  });

  test('stores what it has when it is ended', async () => {
    const journal = await journalOf('one', 'two', 'three');
    const store = new MemoryViews();
    const stop = new AbortController();
    const feed = journal.feed();
    const pace = {
      async rest() {
        stop.abort();
      },
    };
    const followed = await ViewFollower.open({
      view: VIEW,
      guest: last as GuestViews,
      feed,
      store,
      limits: VIEW_LIMITS_DEFAULT,
      building: new SharedBuilding(feed, pace),
      observer: { folded() {}, building() {}, live() {} },
    });
    await followed.build(stop.signal);
    expect(followed.isLive).toBe(false);
    followed.close();
    const writer = store.openWriter(VIEW.stored);
    expect([writer.rowCount, writer.foldedTo?.position]).toEqual([1, '1']);
    writer.close();
  });
});
