// ServiceShards are the shards of a service as introspection sees them.
import type { Ownership } from '../engine/needs/ownership.ts';
import type { LimitCounts } from '@svc/model/limit-counters';
import type { ShardEnding } from '../shards/shard-ends.ts';
import type { ShardNumbers } from '../shards/shard-numbers.ts';
import type { AnswerTo, ShardQuestion } from '../shards/shard-questions.ts';

/** The shards of a service: threads, or the process of an embedded service as its only shard. */
export interface ServiceShards {
  readonly count: number;
  /** Decides which shard to ask about an entity. */
  readonly ownership: Ownership;
  /** Indexed by shard: whether it serves. */
  readonly serving: readonly boolean[];
  /**
   * Counts of each shard that has admitted a module. Shards that have not are left out, so an index here is not the
   * index of a shard.
   */
  readonly numbers: readonly ShardNumbers[];
  /** The latest unexpected ends of the shards, including failed starts. */
  readonly ends: readonly ShardEnding[];
  /** Counts of faults, of limits that were met, and of failures, summed over all shards. */
  readonly counters: { read(): LimitCounts };
  /** Asks a shard a question. Rejects with an SvcError if the shard does not answer. */
  ask<Question extends ShardQuestion>(
    shard: number,
    question: Question,
    timeoutMs: number,
  ): Promise<AnswerTo<Question>>;
}
