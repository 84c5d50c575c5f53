import { expect, test } from 'vitest';
import { ShardEnds } from '../../../host/shards/shard-ends.ts';

test('the latest ends of a shard are kept, newest first, and no more than so many', () => {
  const ends = new ShardEnds();
  for (let atMs = 1; atMs <= 40; atMs++) ends.add({ atMs, shard: 0, reason: 'it hung' });
  expect(ends.latest).toHaveLength(32);
  expect(ends.latest.map(({ atMs }) => atMs).slice(0, 3)).toEqual([40, 39, 38]);
});
