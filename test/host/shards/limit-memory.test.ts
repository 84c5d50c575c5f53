// LimitMemory: whose buckets a shard gets when it starts, and that a module without limits has none.
import { expect, test } from 'vitest';
import type { LimitRule } from '@svc/contract';
import { LimitMemory } from '../../../host/shards/limit-memory.ts';
import { descriptorOf } from '../http/http-harness.ts';

const limits: LimitRule[] = [{ count: 1, per: 'day', by: 'route' }];

test('a shard that is started again has the same buckets, and another module has its own', () => {
  const memory = new LimitMemory(64);
  const descriptor = descriptorOf([['GET', '/a', { limits }]]);
  const made = memory.of(descriptor);
  expect(memory.of(descriptor)).toBe(made);
  const other = memory.of(descriptorOf([['GET', '/a', { limits }]]));
  expect(other!.memory).not.toBe(made!.memory);
  expect(other!.secret).not.toBe(made!.secret);
});

test('a module without limits takes no memory', () => {
  expect(new LimitMemory(64).of(descriptorOf([['GET', '/a']]))).toBeUndefined();
});
