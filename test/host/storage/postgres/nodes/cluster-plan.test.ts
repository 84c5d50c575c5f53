// What a node does after a look: it takes what is free or dead and for it, and hands over what is for others.
import { describe, expect, test } from 'vitest';
import {
  type ClusterNode,
  NOBODY,
  type NodeStatus,
} from '../../../../../host/storage/cluster-nodes.ts';
import { ownersOf, planOf } from '../../../../../host/storage/postgres/nodes/cluster-plan.ts';
import type { ClusterRows } from '../../../../../host/storage/postgres/nodes/cluster-rows.ts';
import { SliceShares } from '../../../../../host/storage/postgres/nodes/slice-shares.ts';
import { SLICE_COUNT } from '../../../../../model/slice.ts';

const SLICES = Array.from({ length: SLICE_COUNT }, (_, slice) => slice);
/** Number of a node whose row was removed. */
const REMOVED = 99;

function node(number: number, status: NodeStatus = 'Up'): ClusterNode {
  return {
    number,
    uid: `uid-${number}`,
    status,
    machine: 'here',
    address: undefined,
    version: '1.0.0',
    fingerprint: 'a',
    joinedMs: number,
  };
}

/** `owner` owns all slices. */
function rows(owner: number, nodes: readonly ClusterNode[], pauseMs = 0): ClusterRows {
  const owners = SLICES.map(() => owner);
  return { version: 1, pauseMs, nodes, leasesLeftMs: [], owners, heads: [] };
}

/** The slices that are for a node. */
function sharesOf(number: number, nodes: readonly ClusterNode[]): readonly number[] {
  const shares = new SliceShares(nodes);
  return SLICES.filter((slice) => shares.takerOf(slice) === number);
}

test.each([
  ['were given up', NOBODY],
  ['belonged to a node that was removed', REMOVED],
])('slices that %s are taken by those for whom they are', (_what, owner) => {
  const nodes = [node(1), node(2)];
  expect(planOf(rows(owner, nodes), 1)).toEqual({
    hasDead: false,
    taken: sharesOf(1, nodes),
    handedOver: [],
  });
});

describe('slices of a node whose lease has ended', () => {
  const nodes = [node(1), node(2), node(3, 'Down')];

  test('are taken by those for whom they are, after the node was removed', () => {
    const { taken, hasDead } = planOf(rows(3, nodes), 2);
    expect(hasDead).toBe(true);
    expect(taken).toEqual(sharesOf(2, [node(1), node(2)]));
  });

  test('are left alone while nobody takes anything', () => {
    expect(planOf(rows(3, nodes, 1), 2)).toEqual({ hasDead: false, taken: [], handedOver: [] });
    expect(planOf(rows(NOBODY, nodes, 1), 2).taken).not.toEqual([]);
  });

  test('belong to nobody for the calls of others, and still to that node for its own', () => {
    expect(new Set(ownersOf(rows(3, nodes), 1).map(([, owner]) => owner))).toEqual(
      new Set([NOBODY]),
    );
    expect(new Set(ownersOf(rows(3, nodes), 3).map(([, owner]) => owner))).toEqual(new Set([3]));
  });
});

describe('the own slices', () => {
  test('are handed over as far as they are for others that serve', () => {
    const nodes = [node(1), node(2)];
    const { handedOver, taken } = planOf(rows(1, nodes), 1);
    expect(taken).toEqual([]);
    expect(handedOver).toEqual(sharesOf(2, nodes).map((slice) => [slice, 2]));
  });

  test('are all handed over by a node that leaves, and to nobody who does not serve', () => {
    expect(planOf(rows(1, [node(1, 'Leaving'), node(2)]), 1).handedOver).toHaveLength(SLICE_COUNT);
    expect(planOf(rows(1, [node(1, 'Leaving'), node(2, 'Joining')]), 1).handedOver).toEqual([]);
  });
});

test.each([
  ['whose lease has ended', [node(1, 'Down'), node(2)]],
  ['that was removed', [node(2)]],
])('a node %s changes nothing', (_what, nodes) => {
  for (const owner of [NOBODY, 1, 2])
    expect(planOf(rows(owner, nodes), 1)).toEqual({ hasDead: false, taken: [], handedOver: [] });
});
