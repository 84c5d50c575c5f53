// HashOwnership gives each entity to a shard by its slice. All shards of a process compute the same owner, so an entity is in
// the memory of at most one of them. The owner is not stored: another number of shards distributes the slices differently.
import { SLICE_COUNT, sliceOf } from '@svc/model/slice';
import type { Ownership } from '../engine/needs/ownership.ts';

export class HashOwnership implements Ownership {
  readonly #shards: number;

  /** `shards`: how many shards the service has, from 1 to SLICE_COUNT. */
  constructor(shards: number) {
    this.#shards = shards;
  }

  ownerOf(component: string, id: string): number {
    return shardOf(component, id, this.#shards);
  }
}

/** Returns the index of the owner among `count` shards. */
export function shardOf(component: string, id: string, count: number): number {
  return Math.floor((sliceOf(component, id) * count) / SLICE_COUNT);
}

/** Slices that follow one another. */
export interface SliceRange {
  readonly first: number;
  readonly count: number;
}

/** Returns the slices of the shard with this index among `count` shards. */
export function slicesOf(index: number, count: number): SliceRange {
  const first = Math.ceil((index * SLICE_COUNT) / count);
  return { first, count: Math.ceil(((index + 1) * SLICE_COUNT) / count) - first };
}
