// W16: whose searches are next.
import { expect, test } from 'vitest';
import { SearchTurns } from '../../../webhooks/subscriptions/search-turns.ts';

test('W16: a tenant with many searches does not keep another one waiting', async () => {
  const turns = new SearchTurns();
  const begun: string[] = [];
  const search = async (tenant: string): Promise<void> => {
    await turns.next(tenant);
    begun.push(tenant);
  };
  const all = Promise.all(Array.from({ length: 100 }, () => search('large')));
  await search('small');
  expect(begun).toEqual(['large', 'small']);
  await all;
  expect(begun).toHaveLength(101);
});

test('W16: everything else goes on between two turns', async () => {
  const turns = new SearchTurns();
  let passed = 0;
  const pass = (): void => {
    passed++;
    next = setImmediate(pass);
  };
  let next = setImmediate(pass);
  const begun: number[] = [];
  const search = async (tenant: string): Promise<void> => {
    await turns.next(tenant);
    begun.push(passed);
  };
  await Promise.all(['a', 'b', 'c', 'd'].map(search));
  clearImmediate(next);
  expect(new Set(begun).size).toBe(4);
});
