// The feed of a journal in PostgreSQL beyond what every feed promises: several slices, damage, and lost connections.
import { describe, expect, onTestFinished, test } from 'vitest';
import { READ_UNITS_MAX } from '../../../../../host/engine/needs/journal.ts';
import type { Feed } from '../../../../../host/engine/needs/feed.ts';
import { SliceHeads } from '../../../../../host/storage/postgres/feed/slice-heads.ts';
import type { Journal } from '../../../../../host/engine/needs/journal.ts';
import { sliceOf } from '../../../../../model/slice.ts';
import { feedSuite, readToEnd } from '../../../../suites/feed-suite.ts';
import { append, recordOf } from '../../../../suites/journal-suite.ts';
import { serverVersions } from '../../../../support/postgres/postgres-programs.ts';
import { StoredSlices, idsApart } from '../stored-slices.ts';

for (const version of serverVersions())
  feedSuite(`in PostgreSQL ${version}`, async () => {
    const stored = await StoredSlices.open(version);
    return {
      journal: stored as unknown as Journal,
      feed: () => stored.feed(),
      discard: () => stored.discard(),
    };
  });

const CARTS = new Set(['cart']);
const IDS = idsApart('cart', 20);
const cart = (id = IDS[0]!) => ({ component: 'cart', id });

async function opened(): Promise<StoredSlices> {
  const stored = await StoredSlices.open();
  onTestFinished(() => stored.discard());
  return stored;
}

/** Appends records to an entity, each with a text. */
async function fill(stored: StoredSlices, id: string, count: number, json?: string): Promise<void> {
  const records = Array.from({ length: count }, (_, at) => recordOf(at + 1, json));
  expect(await append(stored as unknown as Journal, cart(id), ...records)).toBeUndefined();
}

const countById = async (feed: Feed, from: string, limit: number) => {
  const { records, position } = await feed.read(from, limit, CARTS);
  const counts: Record<string, number> = {};
  for (const { entity } of records) counts[entity.id] = (counts[entity.id] ?? 0) + 1;
  return { counts, position };
};

describe('a page', () => {
  test('is divided evenly, and what a slice does not need goes to the others', async () => {
    const stored = await opened();
    await fill(stored, IDS[0]!, 50);
    await fill(stored, IDS[1]!, 2);
    await fill(stored, IDS[2]!, 50);
    const feed = stored.feed();
    const { counts } = await countById(feed, feed.start, 22);
    expect(counts).toEqual({ [IDS[0]!]: 10, [IDS[1]!]: 2, [IDS[2]!]: 10 });
  });

  test('is full when all records are in one slice', async () => {
    const stored = await opened();
    await fill(stored, IDS[3]!, 50);
    const feed = stored.feed();
    expect((await countById(feed, feed.start, 40)).counts).toEqual({ [IDS[3]!]: 40 });
  });

  test('comes to every slice although it is smaller than their number', async () => {
    const stored = await opened();
    for (const id of IDS)
      // oxlint-disable-next-line no-await-in-loop -- an append follows the other
      await fill(stored, id, 3);
    const feed = stored.feed();
    const seen = new Map<string, number>();
    let at = feed.start;
    for (let page = 0; page < 10; page++) {
      // oxlint-disable-next-line no-await-in-loop -- a page begins after the one before
      const { counts, position } = await countById(feed, at, 4);
      for (const [id, count] of Object.entries(counts)) seen.set(id, (seen.get(id) ?? 0) + count);
      at = position;
    }
    expect(seen).toEqual(new Map(IDS.map((id) => [id, 2])));
  });

  test('of large records holds one of each slice before a second one of any', async () => {
    const stored = await opened();
    const quarter = `"${'x'.repeat(READ_UNITS_MAX / 4)}"`;
    for (const id of IDS.slice(0, 3))
      // oxlint-disable-next-line no-await-in-loop -- an append follows the other
      await fill(stored, id, 3, quarter);
    const feed = stored.feed();
    const first = await countById(feed, feed.start, 1_000);
    expect(Object.values(first.counts).toSorted((a, b) => a - b)).toEqual([1, 1, 2]);
    expect(await readToEnd(feed, ['cart'])).toHaveLength(9);
  });

  test('is not sent the texts of components that were not asked for', async () => {
    const stored = await opened();
    await fill(stored, IDS[0]!, 5, `"${'x'.repeat(READ_UNITS_MAX / 2)}"`);
    const feed = stored.feed();
    const page = await feed.read(feed.start, 10, new Set(['order']));
    expect(page).toEqual({ records: [], position: feed.end() });
  });

  test('holds everything that was appended while it was read, or leaves it to the next', async () => {
    const stored = await opened();
    const feed = stored.feed();
    const appending = Promise.all(IDS.map((id) => fill(stored, id, 10)));
    const seen: string[] = [];
    for (let position = feed.start; feed.count(feed.start, position) < IDS.length * 10;) {
      // oxlint-disable-next-line no-await-in-loop -- a page begins after the one before
      await feed.advancedPast(position);
      // oxlint-disable-next-line no-await-in-loop -- a page begins after the one before
      const page = await feed.read(position, 7, CARTS);
      seen.push(...page.records.map(({ entity, record }) => `${entity.id} ${record.seq}`));
      ({ position } = page);
    }
    await appending;
    for (const id of IDS)
      expect(seen.filter((name) => name.startsWith(`${id} `))).toEqual(
        Array.from({ length: 10 }, (_, at) => `${id} ${at + 1}`),
      );
    expect(seen).toHaveLength(IDS.length * 10);
  });
});

describe('a damaged journal', () => {
  const slice = sliceOf('cart', IDS[1]!);
  const corrupt = expect.objectContaining({ code: 'SVC_JOURNAL_CORRUPT' }) as Error;

  async function damaged(sql: string): Promise<Feed> {
    const stored = await opened();
    await fill(stored, IDS[0]!, 3);
    await fill(stored, IDS[1]!, 3);
    await stored.database.sql(sql);
    return stored.feed();
  }

  test.each([
    [
      'a changed text',
      `UPDATE svc.journal SET event = replace(event, '2', '3') WHERE slice = ${slice} AND off = 2`,
    ],
    [
      'a record of another entity',
      `UPDATE svc.journal SET id = 'other' WHERE slice = ${slice} AND off = 2`,
    ],
    [
      'a number out of range',
      `UPDATE svc.journal SET time_ms = 9223372036854775807 WHERE slice = ${slice} AND off = 2`,
    ],
    [
      'a number below the range',
      `UPDATE svc.journal SET seq = -9223372036854775807 WHERE slice = ${slice} AND off = 2`,
    ],
    ['a missing record', `DELETE FROM svc.journal WHERE slice = ${slice} AND off = 2`],
    ['no last record', `DELETE FROM svc.journal WHERE slice = ${slice} AND off > 1`],
  ])('is read up to the damage, and no further: %s', async (_, sql) => {
    const feed = await damaged(sql);
    const page = await countById(feed, feed.start, 10);
    expect(page.counts).toEqual({ [IDS[0]!]: 3, [IDS[1]!]: 1 });
    await expect(async () => feed.read(page.position, 10, CARTS)).rejects.toEqual(corrupt);
  });

  test('stops those alone who follow the component', async () => {
    const feed = await damaged(
      `UPDATE svc.journal SET event = '' WHERE slice = ${slice} AND off = 1`,
    );
    await expect(async () => feed.read(feed.start, 10, CARTS)).rejects.toEqual(corrupt);
    expect((await feed.read(feed.start, 10, new Set(['order']))).position).toBe(feed.end());
  });

  test('whose records have a hole is reported although the page has enough text before its end', async () => {
    const stored = await opened();
    const half = `"${'x'.repeat(READ_UNITS_MAX / 2)}"`;
    for (const id of IDS.slice(0, 3))
      // oxlint-disable-next-line no-await-in-loop -- an append follows the other
      await fill(stored, id, 2, half);
    await stored.database.sql(`DELETE FROM svc.journal WHERE off = 1 AND slice = ${slice}`);
    const feed = stored.feed();
    let position = feed.start;
    await expect(async () => {
      for (let page = 0; page < 10; page++)
        // oxlint-disable-next-line no-await-in-loop -- a page begins after the one before
        ({ position } = await feed.read(position, 10, CARTS));
    }).rejects.toEqual(corrupt);
  });

  test('that has lost its last records is named as one that has gone back', async () => {
    const regressed = expect.objectContaining({ code: 'SVC_JOURNAL_REGRESSED' }) as Error;
    const feed = await damaged(
      `DELETE FROM svc.journal WHERE slice = ${slice} AND off > 1; UPDATE svc.slice SET head = 1 WHERE slice = ${slice}`,
    );
    const { position } = await countById(feed, feed.start, 10);
    await expect(async () => feed.read(position, 10, CARTS)).rejects.toEqual(regressed);
  });
});

test('a position after the end is not waited for in silence: reading from it fails', async () => {
  const stored = await opened();
  await fill(stored, IDS[0]!, 3);
  const later = stored.feed().end();
  const restored = new SliceHeads();
  restored.advance([[sliceOf('cart', IDS[0]!), 2]]);
  const feed = stored.feed(restored);
  expect(feed.hasReached(feed.end(), later)).toBe(false);
  await expect(async () => feed.read(later, 10, CARTS)).rejects.toEqual(
    expect.objectContaining({ code: 'SVC_JOURNAL_REGRESSED' }),
  );
});

describe('the mark of a position', () => {
  test('is the same for who has read up to it and for who asks the database', async () => {
    const stored = await opened();
    for (const id of IDS.slice(0, 5))
      // oxlint-disable-next-line no-await-in-loop -- an append follows the other
      await fill(stored, id, 4);
    const reader = stored.feed();
    const marks = new Map<string, string | undefined>();
    for (let position = reader.start; position !== reader.end();) {
      // oxlint-disable-next-line no-await-in-loop -- a page begins after the one before
      ({ position } = await reader.read(position, 3, new Set(['order'])));
      // oxlint-disable-next-line no-await-in-loop -- a page begins after the one before
      marks.set(position, await reader.mark(position));
    }
    expect(new Set(marks.values()).size).toBe(7);
    const other = stored.feed();
    for (const [position, mark] of marks)
      // oxlint-disable-next-line no-await-in-loop -- a mark after the other
      expect(await other.mark(position)).toBe(mark);
  });

  test('is another one after the journal was restored and written again', async () => {
    const stored = await opened();
    await fill(stored, IDS[0]!, 4);
    await fill(stored, IDS[1]!, 4);
    const position = stored.feed().end();
    const mark = await stored.feed().mark(position);
    const slice = sliceOf('cart', IDS[1]!);
    await stored.database.sql(
      `UPDATE svc.journal SET crc = crc # 1 WHERE off = 4 AND slice = ${slice}`,
    );
    expect(await stored.feed().mark(position)).not.toBe(mark);
    await stored.database.sql(`DELETE FROM svc.journal WHERE off = 4 AND slice = ${slice}`);
    expect(await stored.feed().mark(position)).toBeUndefined();
  });
});

test('a reader whose connection was ended goes on', async () => {
  const stored = await opened();
  await fill(stored, IDS[0]!, 2);
  const feed = stored.feed();
  expect(await readToEnd(feed, ['cart'])).toHaveLength(2);
  await stored.database.sql(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  expect(await readToEnd(feed, ['cart'])).toHaveLength(2);
});

test('a feed that is closed reads no more, and a read under way ends', async () => {
  const stored = await opened();
  await fill(stored, IDS[0]!, 2);
  const feed = stored.feed();
  const reading = Promise.resolve(feed.read(feed.start, 10, CARTS)).then(
    () => 'read',
    (error: { code: string }) => error.code,
  );
  feed.close();
  expect(['read', 'SVC_JOURNAL_UNAVAILABLE']).toContain(await reading);
  await expect(async () => feed.read(feed.start, 10, CARTS)).rejects.toMatchObject({
    code: 'SVC_JOURNAL_UNAVAILABLE',
  });
});
