// ClusterPlan says what a node has to change after a look at nodes and owners. Nothing of it is certain: the database decides.
import { NOBODY } from '../../cluster-nodes.ts';
import type { ClusterRows } from './cluster-rows.ts';
import type { SliceOwners } from './node-membership.ts';
import { SliceShares } from './slice-shares.ts';

export interface ClusterPlan {
  /** Whether nodes are to be removed whose leases have ended. */
  readonly hasDead: boolean;
  /** Slices to take. */
  readonly taken: readonly number[];
  /** Slices to hand over, each with the node that gets it. */
  readonly handedOver: SliceOwners;
}

const NOTHING: ClusterPlan = { hasDead: false, taken: [], handedOver: [] };

/** Returns what the node with the number `self` has to do. */
export function planOf({ nodes, owners, pauseMs }: ClusterRows, self: number): ClusterPlan {
  const isOfSelf = ({ number }: { readonly number: number }): boolean => number === self;
  const own = nodes.find(isOfSelf);
  if (own === undefined || own.status === 'Down') return NOTHING;
  const alive = new Set(
    nodes.filter(({ status }) => status !== 'Down').map(({ number }) => number),
  );
  const dead = new Set(nodes.map(({ number }) => number).filter((number) => !alive.has(number)));
  const serving = new Set(
    nodes.filter(({ status }) => status === 'Up').map(({ number }) => number),
  );
  const shares = new SliceShares(nodes);
  const mayTakeOver = pauseMs === 0;
  const taken: number[] = [];
  const handedOver: [slice: number, next: number][] = [];
  for (const [slice, owner] of owners.entries()) {
    if (owner === self) {
      const next = shares.nextOf(slice, self);
      if (next !== self && serving.has(next)) handedOver.push([slice, next]);
    } else if (!alive.has(owner) && (mayTakeOver || !dead.has(owner))) {
      if (shares.takerOf(slice) === self) taken.push(slice);
    }
  }
  return { hasDead: mayTakeOver && dead.size > 0, taken, handedOver };
}

/** Returns the owners of all slices, as calls go by them: a node whose lease has ended owns nothing, unless it is this one. */
export function ownersOf({ nodes, owners }: ClusterRows, self: number): SliceOwners {
  const alive = new Set(
    nodes.filter(({ status }) => status !== 'Down').map(({ number }) => number),
  );
  alive.add(self);
  return owners.map((owner, slice) => [slice, alive.has(owner) ? owner : NOBODY]);
}
