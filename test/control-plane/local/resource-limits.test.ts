// Resources of a descriptor as limits of the runtime.
import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import type { ServiceDescriptor } from '../../../client/index.ts';
import { runtimeLimits, unlimitedInWords } from '../../../control-plane/local/resource-limits.ts';
import { cart } from './cart.ts';

const limits = (resources: ServiceDescriptor['resources'], env = {}) =>
  runtimeLimits({ name: 'cart', image: 'cart:1', env, ...(resources && { resources }) });

test('memory is shared out among the main thread, the shards and the modules', () => {
  expect(limits({ memory: '1Gi' })).toEqual({
    options: ['--max-old-space-size=128'],
    variables: {
      SVC_SHARDS: '1',
      SVC_SUPERVISOR_SHARD_HEAP_MIB: '384',
      SVC_WASM_MEMORY_BYTES_TOTAL_MAX: String(384 * 1024 * 1024),
      SVC_WASM_RELEASED_BYTES_MAX: String(48 * 1024 * 1024),
    },
  });
  const shared = limits({ memory: '1Gi' }, { SVC_SHARDS: '3' }).variables;
  expect(shared).toMatchObject({ SVC_SHARDS: '3', SVC_SUPERVISOR_SHARD_HEAP_MIB: '128' });
});

test('a thread has at least the heap with which it starts', () => {
  expect(limits({ memory: '1M' })).toMatchObject({
    options: ['--max-old-space-size=64'],
    variables: {
      SVC_SUPERVISOR_SHARD_HEAP_MIB: '64',
      SVC_WASM_MEMORY_BYTES_TOTAL_MAX: String(1024 * 1024),
    },
  });
});

test('there is a shard for each whole core, and at least one', () => {
  expect(limits(undefined)).toEqual({ options: [], variables: { SVC_SHARDS: '1' } });
  expect(limits({ cpu: '500m' }).variables).toEqual({ SVC_SHARDS: '1' });
  const all = String(availableParallelism());
  expect(limits({ cpu: '1k' }).variables).toEqual({ SVC_SHARDS: all });
});

test('a member is told which resources nothing but the runtime keeps to', () => {
  const descriptor = { name: 'cart', image: 'cart:1', resources: { cpu: '1', memory: '1Gi' } };
  const wanted = cart('cart:1', 1, { descriptor });
  expect(unlimitedInWords(wanted, new Set())).toMatch(
    /^resources\.cpu and resources\.memory: limits of the runtime/,
  );
  expect(unlimitedInWords(wanted, new Set(['cpu']))).toMatch(/^resources\.memory: limits/);
  expect(unlimitedInWords(wanted, new Set(['cpu', 'memory']))).toBeUndefined();
  expect(unlimitedInWords(cart('cart:1', 1), new Set())).toBeUndefined();
  const hosted = { hosting: 'process', protocol: 'svc/1' } as const;
  const beside = cart('cart:1', 1, { descriptor: { ...descriptor, ...hosted } });
  expect(unlimitedInWords(beside, new Set())).toMatch(/sets none for the process beside it$/);
  const removed = { kind: 'removed', key: { project: 'a', service: 'b' } } as const;
  expect(unlimitedInWords(removed, new Set())).toBeUndefined();
});
