// ClusterOwnership gives each entity to a peer of this shard: to a shard of this node, if the node owns the slice of the entity, and
// otherwise to the node that owns it. Owners change while the service runs.
import type { Ownership } from '../engine/needs/ownership.ts';
import type { ClusterSlices } from '../storage/cluster-nodes.ts';
import { shardOf } from './hash-ownership.ts';

/** Index of the peer that is the node with number 0. Indices below are those of shards. */
const NODE_PEERS = 1_024;

export class ClusterOwnership implements Ownership {
  readonly #slices: Pick<ClusterSlices, 'self' | 'ownerOf'>;
  readonly #shards: number;

  /** `shards`: how many shards this node has. */
  constructor(slices: Pick<ClusterSlices, 'self' | 'ownerOf'>, shards: number) {
    this.#slices = slices;
    this.#shards = shards;
  }

  ownerOf(component: string, id: string): number {
    const node = this.#slices.ownerOf(component, id);
    return node === this.#slices.self ? shardOf(component, id, this.#shards) : NODE_PEERS + node;
  }
}

/** Returns the number of the node that a peer is; undefined: the peer is a shard of this node. */
export function nodeOf(peer: number): number | undefined {
  return peer < NODE_PEERS ? undefined : peer - NODE_PEERS;
}
