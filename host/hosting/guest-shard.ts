// GuestShard: the shard of a service for which a guest is started.
export interface GuestShard {
  /** Index of the shard, from 0. */
  readonly shard: number;
  /** Number of shards; 0: the guest is of no shard. */
  readonly shards: number;
}

/** For the main thread, for threads that fold views, and for tools. */
export const NO_SHARD: GuestShard = { shard: 0, shards: 0 };
