// SliceShares says which node each slice is for, by rendezvous hashing. Every node computes it from the rows of the database, and
// gets the same result as the others, so nobody has to decide it.
//
// Invariants
// - A node that comes or goes moves only the slices that it gets or had, as long as all nodes run the same module.
// - Nodes that leave, or whose lease has ended, get nothing. A node that does not serve yet gets only slices that nobody owns, and
//   only while no other node serves.
// - While nodes run several modules, nothing moves from a node that stays; what becomes free goes to nodes of the newest module.
import { NOBODY, type ClusterNode } from '../../cluster-nodes.ts';

export type SharingNode = Pick<ClusterNode, 'number' | 'status' | 'fingerprint'>;

/**
 * Returns the fingerprint of the newest module: the one whose first node has joined last. A node with the former module may be started
 * again while an update is under way. `nodes`: in the order in which they joined.
 */
export function newestModule(
  nodes: readonly Pick<ClusterNode, 'fingerprint'>[],
): string | undefined {
  return [...new Set(nodes.map(({ fingerprint }) => fingerprint))].at(-1);
}

export class SliceShares {
  /** The nodes among which slices are shared. */
  readonly #takers: readonly number[];
  /** The nodes that keep what they own, whatever the hash says. */
  readonly #keepers: ReadonlySet<number>;

  /** `nodes`: all nodes, in the order in which they joined. */
  constructor(nodes: readonly SharingNode[]) {
    const staying = nodes.filter(({ status }) => status === 'Up' || status === 'Joining');
    const serving = staying.filter(({ status }) => status === 'Up');
    const sharing = serving.length > 0 ? serving : staying;
    const newest = newestModule(sharing);
    this.#takers = sharing
      .filter(({ fingerprint }) => fingerprint === newest)
      .map(({ number }) => number);
    const isUpdating = new Set(staying.map(({ fingerprint }) => fingerprint)).size > 1;
    const nobodyServes = serving.length === 0;
    this.#keepers = new Set(isUpdating || nobodyServes ? staying.map(({ number }) => number) : []);
  }

  /** Returns the number of the node that takes a slice which nobody owns; NOBODY: there is none. */
  takerOf(slice: number): number {
    let taker = NOBODY;
    let highest = -1;
    for (const number of this.#takers) {
      const score = scoreOf(slice, number);
      if (score > highest) [taker, highest] = [number, score];
    }
    return taker;
  }

  /** Returns the number of the node to which the owner of a slice hands it over: its own if the slice stays. */
  nextOf(slice: number, owner: number): number {
    if (this.#keepers.has(owner)) return owner;
    const taker = this.takerOf(slice);
    return taker === NOBODY ? owner : taker;
  }
}

/** A hash of 32 bits. All nodes of a cluster have the same one. */
function scoreOf(slice: number, node: number): number {
  return mixed(mixed(node) ^ Math.imul(slice + 1, 0x9e3779b1)) >>> 0;
}

/** The last step of MurmurHash3, by which each bit depends on all. */
function mixed(bits: number): number {
  let hash = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
