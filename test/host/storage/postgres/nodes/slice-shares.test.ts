// Which node each slice is for: spread evenly, moved rarely, and the same for everybody.
import { describe, expect, test } from 'vitest';
import { NOBODY } from '../../../../../host/storage/cluster-nodes.ts';
import {
  type SharingNode,
  SliceShares,
} from '../../../../../host/storage/postgres/nodes/slice-shares.ts';
import { SLICE_COUNT } from '../../../../../model/slice.ts';

const SLICES = Array.from({ length: SLICE_COUNT }, (_, slice) => slice);

function node(number: number, given: Partial<SharingNode> = {}): SharingNode {
  return { number, status: 'Up', fingerprint: 'a', ...given };
}

/** Returns the taker of each slice. */
function takers(nodes: readonly SharingNode[]): readonly number[] {
  const shares = new SliceShares(nodes);
  return SLICES.map((slice) => shares.takerOf(slice));
}

/** Counts the slices of each node. */
function counts(nodes: readonly SharingNode[]): readonly number[] {
  const taken = takers(nodes);
  return nodes.map(({ number }) => taken.filter((taker) => taker === number).length);
}

test('a slice is for the same node in every version: nodes of several versions may run at once', () => {
  expect(
    takers([node(1), node(2), node(3)])
      .slice(0, 32)
      .join(''),
  ).toBe('33332113313313231121313223331321');
});

test.each([[[1, 2]], [[1, 2, 3]], [[7, 8, 9, 10, 11]], [[3, 1_000, 1_001, 70_000]]])(
  'the nodes %j have about equal shares',
  (numbers) => {
    const share = SLICE_COUNT / numbers.length;
    for (const count of counts(numbers.map((number) => node(number)))) {
      expect(count).toBeGreaterThan(share * 0.8);
      expect(count).toBeLessThan(share * 1.2);
    }
  },
);

test('any consecutive numbers have about equal shares', () => {
  for (let first = 1; first < 200; first++) {
    const nodes = [node(first), node(first + 1), node(first + 2)];
    for (const count of counts(nodes)) {
      expect(count).toBeGreaterThan(270);
      expect(count).toBeLessThan(420);
    }
  }
});

test('a node that comes takes only its share, and one that goes moves only its own', () => {
  const before = takers([node(1), node(2), node(3)]);
  const after = takers([node(1), node(2), node(3), node(4)]);
  for (const slice of SLICES) expect([before[slice], 4]).toContain(after[slice]);
  const without = takers([node(1), node(3), node(4)]);
  const others = SLICES.filter((slice) => after[slice] !== 2);
  expect(others.map((slice) => without[slice])).toEqual(others.map((slice) => after[slice]));
});

test('the order of nodes does not matter while they run the same module', () => {
  expect(takers([node(3), node(1), node(2)])).toEqual(takers([node(1), node(2), node(3)]));
});

describe('a node that', () => {
  const up = node(1);

  test.each(['Leaving', 'Down'] as const)('is %s gets nothing, and keeps nothing', (status) => {
    expect(new Set(takers([up, node(2, { status })]))).toEqual(new Set([1]));
    const shares = new SliceShares([up, node(2, { status })]);
    for (const slice of SLICES) expect(shares.nextOf(slice, 2)).toBe(1);
  });

  test('does not serve yet gets nothing while another one serves, to which it hands over', () => {
    const nodes = [node(1, { status: 'Joining' }), node(2)];
    expect(new Set(takers(nodes))).toEqual(new Set([2]));
    expect(new SliceShares(nodes).nextOf(5, 1)).toBe(2);
  });

  test('does not serve yet takes what is free if none serves, and keeps what it has', () => {
    const nodes = [node(1, { status: 'Joining' }), node(2, { status: 'Joining' })];
    expect(new Set(takers(nodes))).toEqual(new Set([1, 2]));
    const shares = new SliceShares(nodes);
    for (const slice of SLICES) expect(shares.nextOf(slice, 1)).toBe(1);
  });
});

test('without a node that stays, nobody takes a slice, and its owner has nobody to hand it over to', () => {
  const shares = new SliceShares([node(1, { status: 'Leaving' })]);
  expect(shares.takerOf(0)).toBe(NOBODY);
  expect(shares.nextOf(0, 1)).toBe(1);
});

describe('while nodes run several modules', () => {
  const nodes = [node(1), node(2), node(3, { fingerprint: 'b' }), node(4, { fingerprint: 'b' })];

  test('what is free goes to those of the newest one', () => {
    expect(new Set(takers(nodes))).toEqual(new Set([3, 4]));
  });

  test('nothing moves from a node that stays', () => {
    const shares = new SliceShares(nodes);
    for (const { number } of nodes)
      for (const slice of SLICES) expect(shares.nextOf(slice, number)).toBe(number);
  });

  test('a node that leaves hands over to the newest ones', () => {
    const shares = new SliceShares([node(1, { status: 'Leaving' }), ...nodes.slice(1)]);
    for (const slice of SLICES) expect([3, 4]).toContain(shares.nextOf(slice, 1));
  });

  test('the newest module is not that of a node which was started again', () => {
    const shares = new SliceShares([...nodes, node(5)]);
    for (const slice of SLICES) expect([3, 4]).toContain(shares.takerOf(slice));
  });

  test('nothing moves either because one with another module does not serve yet', () => {
    const shares = new SliceShares([
      node(1),
      node(2),
      node(3, { fingerprint: 'b', status: 'Joining' }),
    ]);
    for (const slice of SLICES) expect(shares.nextOf(slice, 1)).toBe(1);
  });
});
