// LimitMemory: whose buckets a shard gets when it starts, and that a module without limits has none.
import { expect, test } from 'vitest';
import type { LimitRule, ModuleDescriptor } from '@svc/contract';
import type { GuestSource } from '../../../host/hosting/guest-source.ts';
import { LimitMemory } from '../../../host/shards/limit-memory.ts';
import { descriptorOf } from '../http/http-harness.ts';

function sourceOf(descriptor: ModuleDescriptor): GuestSource {
  return { kind: 'program', file: 'cart.ts', fingerprint: 'a', descriptor };
}

const limits: LimitRule[] = [{ count: 1, per: 'day', by: 'route' }];

test('a shard that is started again has the same buckets, and another module has its own', () => {
  const memory = new LimitMemory(64);
  const source = sourceOf(descriptorOf([['GET', '/a', { limits }]]));
  const made = memory.of(source, source.descriptor);
  // Each shard sends the descriptor anew.
  expect(memory.of(source, structuredClone(source.descriptor))).toBe(made);
  const next = sourceOf(source.descriptor);
  const other = memory.of(next, next.descriptor);
  expect(other!.memory).not.toBe(made!.memory);
  expect(other!.secret).not.toBe(made!.secret);
});

test('a module without limits takes no memory', () => {
  const source = sourceOf(descriptorOf([['GET', '/a']]));
  expect(new LimitMemory(64).of(source, source.descriptor)).toBeUndefined();
});
