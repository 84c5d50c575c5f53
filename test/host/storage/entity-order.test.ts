// EntityOrder and JournalFeed: the records of a journal in two orders, as a fold of views reads them.
import { expect, onTestFinished, test } from 'vitest';
import type { FeedPage } from '../../../host/engine/needs/feed.ts';
import type { EntityDirection } from '../../../host/storage/journal-reading.ts';
import { EntityOrder } from '../../../host/storage/entity-order.ts';
import { SqliteInspection } from '../../../host/storage/sqlite/tools/journal-inspection.ts';
import { JournalFeed } from '../../../host/storage/sqlite/tools/journal-feed.ts';
import { append, deletionAt, recordOf } from '../../suites/journal-suite.ts';
import { edit } from '../../support/damaged-journal.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { withJournal } from '../../support/with-journal.ts';

const CARTS = new Set(['Cart']);
const one = { component: 'Cart', id: 'one' };
const two = { component: 'Cart', id: 'two' };
const other = { component: 'Order', id: 'one' };

async function journal(): Promise<string> {
  const dir = temporaryFolder();
  await withJournal(dir, async (opened) => {
    await append(opened, two, recordOf(1));
    await append(opened, one, recordOf(1), recordOf(2));
    await append(opened, other, recordOf(1));
    await append(opened, two, recordOf(2), deletionAt(3), recordOf(4));
    const many = Array.from({ length: 200 }, (_, index) => recordOf(3 + index));
    await append(opened, one, ...many);
  });
  return dir;
}

interface Read {
  readonly start: string;
  read(after: string, limit: number, components: ReadonlySet<string>): FeedPage | Promise<FeedPage>;
}

/** Reads all pages; returns the records as `ID SEQ`. */
async function all(feed: Read, limit: number, components = CARTS): Promise<readonly string[]> {
  const found: string[] = [];
  for (let position = feed.start; ;) {
    // oxlint-disable-next-line no-await-in-loop -- each page follows the one before
    const page = await feed.read(position, limit, components);
    found.push(...page.records.map(({ entity, record }) => `${entity.id} ${record.seq}`));
    if (page.position === position) return found;
    position = page.position;
  }
}

function feedOf(dir: string): JournalFeed {
  const feed = new JournalFeed(dir);
  onTestFinished(() => feed.close());
  return feed;
}

async function orderOf(dir: string, feed: JournalFeed, components = CARTS): Promise<EntityOrder> {
  const order = await EntityOrder.open(new SqliteInspection(dir), dir, feed, components);
  onTestFinished(() => order.close());
  return order;
}

const numbered = (id: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${id} ${index + 1}`);

test('a journal is read in commit order, whatever the pages, and ends where it was opened', async () => {
  const dir = await journal();
  const feed = feedOf(dir);
  await withJournal(dir, (opened) => append(opened, two, recordOf(5)));
  const expected = ['two 1', 'one 1', 'one 2', 'two 2', 'two 3', 'two 4'];
  for (const limit of [1, 3, 1_000]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const found = await all(feed, limit);
    expect(found.slice(0, 6)).toEqual(expected);
    expect(found).toHaveLength(206);
  }
  expect(feed.count(feed.start, feed.end())).toBe(207);
  expect(feed.mark(feed.start)).toBeUndefined();
  expect(feed.mark('1')).not.toBe(feed.mark('2'));
  expect(feed.mark('208')).toBeUndefined();
});

test.each<[EntityDirection, readonly string[]]>([
  ['first-to-last', [...numbered('two', 4), ...numbered('one', 202)]],
  ['last-to-first', [...numbered('one', 202), ...numbered('two', 4)]],
])(
  'entities are read one after the other, %s, and each in its own order',
  async (direction, expected) => {
    const dir = await journal();
    const order = await orderOf(dir, feedOf(dir));
    await withJournal(dir, (opened) => append(opened, two, recordOf(5)));
    for (const limit of [1, 7, 1_000])
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await all(order.feed(direction), limit)).toEqual(expected);
    const feed = order.feed(direction);
    const { position } = await feed.read(feed.start, 3, CARTS);
    expect(feed.count(feed.start, position)).toBe(3);
    expect(await feed.read(position, 1, CARTS)).toEqual(await feed.read(position, 1, CARTS));
  },
);

test('a damaged record ends a page, and no page begins with it', async () => {
  const dir = await journal();
  edit(dir, `UPDATE journal SET json = '{}' WHERE pos = 3`);
  const feed = feedOf(dir);
  const page = feed.read(feed.start, 10, CARTS);
  expect(page.position).toBe('2');
  expect(() => feed.read('2', 10, CARTS)).toThrow(
    expect.objectContaining({ code: 'SVC_JOURNAL_CORRUPT' }) as Error,
  );
});
