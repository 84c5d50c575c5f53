// ShardEnds: the latest times that a shard has ended though nobody told it to, for whoever looks on. They are kept by
// the main thread, which outlives it.

export interface ShardEnding {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly shard: number;
  readonly reason: string;
}

/** Of one shard; a module that ends it again and again says the same each time. */
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
