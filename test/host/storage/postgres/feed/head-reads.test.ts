import { expect, test } from 'vitest';
import { HeadReads } from '../../../../../host/storage/postgres/feed/head-reads.ts';
import { SliceHeads } from '../../../../../host/storage/postgres/feed/slice-heads.ts';
import type { Row } from '../../../../../host/storage/postgres/database-session.ts';

/** Reads of a database that answers when the test does. */
function heldReads() {
  const heads = new SliceHeads();
  const queries: PromiseWithResolvers<readonly Row[]>[] = [];
  const query = () => {
    const held = Promise.withResolvers<readonly Row[]>();
    queries.push(held);
    return held.promise;
  };
  return { heads, queries, reads: new HeadReads({ session: { query }, heads }) };
}

test('callers that wait for a read share the next one, which begins after they have asked', async () => {
  const { heads, queries, reads } = heldReads();
  const first = reads.read();
  await Promise.resolve();
  const second = reads.read();
  const third = reads.read();
  queries[0]!.resolve([[3, 7]]);
  await first;
  expect(heads.of(3)).toBe(7);
  await expect.poll(() => queries.length).toBe(2);
  queries[1]!.resolve([[3, 9]]);
  await Promise.all([second, third]);
  expect([heads.of(3), queries.length]).toEqual([9, 2]);
});

test('a read that fails does so for its callers alone', async () => {
  const { heads, queries, reads } = heldReads();
  const failed = reads.read();
  await Promise.resolve();
  const next = reads.read();
  queries[0]!.reject(new Error('the connection is lost'));
  await expect(failed).rejects.toThrow('the connection is lost');
  await expect.poll(() => queries.length).toBe(2);
  queries[1]!.resolve([[1, 2]]);
  await next;
  expect(heads.of(1)).toBe(2);
});
