// What is remembered of a service ends with each change of its objects, in whatever order answers and changes arrive.
import { beforeEach, expect, test } from 'vitest';
import type { ServiceKey } from '../../../client/index.ts';
import { SettledMemory } from '../../../control-plane/kubernetes/settled-memory.ts';

const CART = { project: 'web', service: 'cart' };
const SHOP = { project: 'web', service: 'shop' };
const OTHER = { project: 'web2', service: 'cart' };

let nowMs: number;
let memory: SettledMemory<string>;

beforeEach(() => {
  nowMs = 1000;
  memory = new SettledMemory({
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    after: () => () => undefined,
  });
});

function remember(key: ServiceKey, states: Record<string, string>): void {
  using finding = memory.begin(key);
  finding.keep('found', new Map(Object.entries(states)), 100);
}
const change = (key: ServiceKey, path: string, state: string | undefined) =>
  memory.changed({ ...key, path, state });

test('it ends after its time', () => {
  remember(CART, { '/a': '1' });
  nowMs += 99;
  expect(memory.get(CART)).toBe('found');
  nowMs += 1;
  expect(memory.get(CART)).toBeUndefined();
  nowMs -= 50;
  expect(memory.get(CART)).toBeUndefined();
});

test.each([
  ['is changed', '/a', '2'],
  ['is removed', '/a', undefined],
  ['appears', '/b', '1'],
])('it ends when an object %s', (_, path, state) => {
  remember(CART, { '/a': '1' });
  remember(SHOP, { '/a': '1' });
  change(CART, path, state);
  expect(memory.get(CART)).toBeUndefined();
  expect(memory.get(SHOP)).toBe('found');
});

test('a change that arrives late, of what was found, does not end it', () => {
  remember(CART, { '/a': '2' });
  change(CART, '/a', '2');
  change(CART, '/gone', undefined);
  expect(memory.get(CART)).toBe('found');
});

test('a change that arrives before the answer counts, unless the answer has it', () => {
  {
    using finding = memory.begin(CART);
    change(CART, '/a', '2');
    finding.keep('before', new Map([['/a', '1']]), 100);
    expect(memory.get(CART)).toBeUndefined();
    finding.keep('after', new Map([['/a', '2']]), 100);
    expect(memory.get(CART)).toBe('after');
  }
  using finding = memory.begin(CART);
  finding.keep('again', new Map([['/a', '1']]), 100);
  expect(memory.get(CART)).toBe('again');
});

test('an answer that was asked for before the memory was ended is not remembered', () => {
  using finding = memory.begin(CART);
  memory.end(CART);
  finding.keep('before', new Map(), 100);
  expect(memory.get(CART)).toBeUndefined();
  remember(CART, {});
  expect(memory.get(CART)).toBe('found');
});

test('a change of a project concerns each of its services, and no other project', () => {
  for (const key of [CART, SHOP, OTHER]) remember(key, { '/namespace': '1' });
  const namespace = { project: 'web', service: undefined, path: '/namespace' };
  memory.changed({ ...namespace, state: '1' });
  expect([CART, SHOP, OTHER].map((key) => memory.get(key))).toEqual(['found', 'found', 'found']);
  using finding = memory.begin({ project: 'web', service: 'new' });
  memory.changed({ ...namespace, state: '2' });
  finding.keep('before', new Map([['/namespace', '1']]), 100);
  const found = [CART, SHOP, { ...CART, service: 'new' }, OTHER].map((key) => memory.get(key));
  expect(found).toEqual([undefined, undefined, undefined, 'found']);
});
