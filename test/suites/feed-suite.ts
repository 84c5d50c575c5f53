// The promises of `host/engine/needs/feed.ts`, which the feed of every journal has to keep.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Feed, FeedRecord, Position } from '../../host/engine/needs/feed.ts';
import { type Journal, READ_UNITS_MAX } from '../../host/engine/needs/journal.ts';
import type { EntityRef } from '../../model/entity.ts';
import { append, deletionAt, recordOf } from './journal-suite.ts';

/** A journal and feeds of it, for one test. */
export interface FeedUnderTest {
  readonly journal: Journal;
  feed(): Feed;
  /** Ends everything that the test used, whatever state it is in. */
  discard(): Promise<void>;
}

/** Reads the records of components from a position to the end, in pages. */
export async function readToEnd(
  feed: Feed,
  components: readonly string[],
  from = feed.start,
  limit = 100,
): Promise<readonly FeedRecord[]> {
  const records: FeedRecord[] = [];
  let position: Position = from;
  for (;;) {
    const page = await feed.read(position, limit, new Set(components));
    records.push(...page.records);
    if (page.position === position) return records;
    position = page.position;
  }
}

const CARTS = new Set(['cart']);
const names = (records: readonly FeedRecord[]) =>
  records.map(({ entity, record }) => `${entity.component}/${entity.id} ${record.seq}`);

export function feedSuite(place: string, open: () => Promise<FeedUnderTest>): void {
  describe(`the feed of a journal ${place}`, () => {
    const cart: EntityRef = { component: 'cart', id: 'one' };
    const order: EntityRef = { component: 'order', id: 'one' };
    let underTest: FeedUnderTest;
    let journal: Journal;

    beforeEach(async () => {
      underTest = await open();
      ({ journal } = underTest);
    });
    afterEach(async () => {
      await underTest.discard();
    });

    test('an empty journal has a start that is its end', async () => {
      const feed = underTest.feed();
      expect(feed.end()).toBe(feed.start);
      expect(await feed.read(feed.start, 10, CARTS)).toEqual({ records: [], position: feed.start });
      expect(await feed.mark(feed.start)).toBeUndefined();
    });

    test('records of an entity come as they were stored, and deletions among them', async () => {
      await append(journal, cart, recordOf(1), recordOf(2));
      await append(journal, order, recordOf(1));
      await append(journal, cart, deletionAt(3));
      const records = await readToEnd(underTest.feed(), ['cart', 'order']);
      const carts = records.filter(({ entity }) => entity.component === 'cart');
      expect(carts.map(({ entity }) => entity)).toEqual([cart, cart, cart]);
      expect(carts.map(({ record }) => record)).toEqual([recordOf(1), recordOf(2), deletionAt(3)]);
      const others = records.filter(({ entity }) => entity.component !== 'cart');
      expect(others).toEqual([{ entity: order, record: recordOf(1) }]);
    });

    test('other components are left out, and the position goes past them', async () => {
      for (let seq = 1; seq <= 5; seq++) {
        await append(journal, cart, recordOf(seq));
        await append(journal, order, recordOf(seq));
      }
      const feed = underTest.feed();
      const orders = new Set(['order']);
      const first = await feed.read(feed.start, 4, orders);
      expect(names(first.records)).toEqual(['order/one 1', 'order/one 2']);
      expect(feed.count(feed.start, first.position)).toBe(4);
      expect(names(await readToEnd(feed, ['order'], first.position, 3))).toEqual([
        'order/one 3',
        'order/one 4',
        'order/one 5',
      ]);
      expect(names(await readToEnd(feed, ['order'], first.position, 1))).toHaveLength(3);
      expect(names(await readToEnd(feed, ['neither']))).toEqual([]);
    });

    test.each([1, 2, 7, 1_000])('pages of %d records leave none out', async (limit) => {
      const all: string[] = [];
      for (let seq = 1; seq <= 20; seq++)
        for (const entity of [cart, order]) {
          await append(journal, entity, recordOf(seq));
          all.push(`${entity.component}/one ${seq}`);
        }
      const feed = underTest.feed();
      expect(names(await readToEnd(feed, ['cart', 'order'], feed.start, limit)).toSorted()).toEqual(
        all.toSorted(),
      );
    });

    test('a page ends after the record with which its text is large enough', async () => {
      const half = `"${'x'.repeat(READ_UNITS_MAX / 2)}"`;
      await append(journal, cart, recordOf(1, half), recordOf(2, half), recordOf(3, half));
      const feed = underTest.feed();
      const page = await feed.read(feed.start, 100, CARTS);
      expect(names(page.records)).toEqual(['cart/one 1', 'cart/one 2']);
      expect(names((await feed.read(page.position, 100, CARTS)).records)).toEqual(['cart/one 3']);
    });

    test('the end has reached every append that has settled', async () => {
      const feed = underTest.feed();
      for (let seq = 1; seq <= 5; seq++) {
        const before = feed.end();
        await append(journal, cart, recordOf(seq));
        const end = feed.end();
        expect(feed.hasReached(end, before)).toBe(true);
        expect(feed.hasReached(before, end)).toBe(false);
        expect(feed.count(before, end)).toBe(1);
        expect((await feed.read(before, 10, CARTS)).position).toBe(end);
      }
      expect(feed.count(feed.start, feed.end())).toBe(5);
      expect(feed.count(feed.end(), feed.start)).toBe(0);
    });

    test('a follower waits until there is more, and is freed when its feed is closed', async () => {
      const feed = underTest.feed();
      const other = underTest.feed();
      const advanced = feed.advancedPast(feed.start);
      await append(journal, cart, recordOf(1));
      await advanced;
      await feed.advancedPast(feed.start);
      const freed = feed.advancedPast(feed.end());
      let isFreed = false;
      const waiting = other.advancedPast(other.end()).then(() => (isFreed = true));
      feed.close();
      await freed;
      expect(isFreed).toBe(false);
      await append(journal, cart, recordOf(2));
      await waiting;
      other.close();
    });

    test('the mark of a position is that of its record', async () => {
      await append(journal, cart, recordOf(1));
      const feed = underTest.feed();
      const first = feed.end();
      const mark = await feed.mark(first);
      await append(journal, cart, recordOf(2));
      expect(mark).toBeDefined();
      expect(await feed.mark(first)).toBe(mark);
      expect(await feed.mark(feed.end())).not.toBe(mark);
    });

    test('a position is read from the text that it is, and from no other', async () => {
      await append(journal, cart, recordOf(1));
      const feed = underTest.feed();
      for (const position of [feed.start, feed.end()]) expect(feed.parse(position)).toBe(position);
      for (const text of [
        '',
        ' 1',
        '1 ',
        '01',
        '-1',
        '1.5',
        '1e3',
        '0x1',
        'NaN',
        '１',
        '9'.repeat(30),
        "1'--",
      ])
        expect(feed.parse(text)).toBeUndefined();
    });
  });
}
