import { expect, onTestFinished, test } from 'vitest';
import type { Journal } from '../../../../../host/engine/needs/journal.ts';
import { ConfirmedRecords } from '../../../../../host/storage/postgres/consumers/confirmed-records.ts';
import { EntityReads } from '../../../../../host/storage/postgres/entity-reads.ts';
import { SliceHeads } from '../../../../../host/storage/postgres/feed/slice-heads.ts';
import { sliceOf } from '../../../../../model/slice.ts';
import { append, recordOf } from '../../../../suites/journal-suite.ts';
import { StoredSlices } from '../stored-slices.ts';

const cart = { component: 'cart', id: 'one' };
const records = [recordOf(1), recordOf(2), recordOf(3)];

test('a lane reads no record that the feed does not know of yet', async () => {
  const stored = await StoredSlices.open();
  const session = stored.session();
  onTestFinished(async () => {
    session.close();
    await stored.discard();
  });
  expect(await append(stored as unknown as Journal, cart, ...records)).toBeUndefined();
  // The database has stored the third record, and the thread that writes has not heard of it.
  const heads = new SliceHeads();
  heads.advance([[sliceOf('cart', 'one'), 2]]);
  const reads = new ConfirmedRecords(new EntityReads(session), heads);
  const feed = stored.feed(heads);
  const page = await feed.read(feed.start, 10, new Set(['cart']));
  expect(page.records.map(({ record }) => record)).toEqual(records.slice(0, 2));
  expect(await reads.read(cart, 0, 10)).toEqual(records.slice(0, 2));
  expect(await reads.read(cart, 2, 10)).toEqual([]);
  heads.advance([[sliceOf('cart', 'one'), 3]]);
  expect(await reads.read(cart, 0, 10)).toEqual(records);
  expect(await reads.read(cart, 0, 1)).toEqual(records.slice(0, 1));
  const rest = await feed.read(page.position, 10, new Set(['cart']));
  expect(rest.records.map(({ record }) => record)).toEqual(records.slice(2));
});
