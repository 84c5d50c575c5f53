// HashOwnership gives each entity to a shard by the hash of its component and id. All shards of a process compute the
// same owner, so an entity is in the memory of at most one of them. No owner is stored: all shards share one journal,
// so another number of shards, or another version of the runtime, may distribute the entities differently.
import type { Ownership } from '../engine/needs/ownership.ts';

export class HashOwnership implements Ownership {
  readonly #shards: number;

  /** `shards`: how many shards the service has, at least one. */
  constructor(shards: number) {
    this.#shards = shards;
  }

  ownerOf(component: string, id: string): number {
    return shardOf(component, id, this.#shards);
  }
}

/**
 * Returns the index of the owner among `count` shards. The hash is FNV-1a over the UTF-16 units of both texts, and its
 * bits are mixed once more.
 */
export function shardOf(component: string, id: string, count: number): number {
  // A value that is no UTF-16 unit separates the texts, so that `a`, `bc` and `ab`, `c` are hashed differently.
  let hash = Math.imul(hashed(component, 0x811c9dc5) ^ 0x10000, 0x01000193);
  hash = hashed(id, hash);
  // The high bits select the shard, and FNV-1a alone gives most ids that differ only in their last digit the same ones.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  hash ^= hash >>> 16;
  return Math.floor(((hash >>> 0) / 2 ** 32) * count);
}

function hashed(text: string, start: number): number {
  let hash = start;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}
