// ShardEnds holds the latest unexpected ends of one shard, for introspection. The main thread keeps them, because it
// outlives the shard.

export interface ShardEnding {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly shard: number;
  readonly reason: string;
}

/** Maximum number of ends. A module that ends its shard repeatedly mostly does so for the same reason. */
const KEPT_MAX = 32;

export class ShardEnds {
  #latest: readonly ShardEnding[] = [];

  /** Newest first. */
  get latest(): readonly ShardEnding[] {
    return this.#latest;
  }

  add(ending: ShardEnding): void {
    this.#latest = [ending, ...this.#latest].slice(0, KEPT_MAX);
  }
}
