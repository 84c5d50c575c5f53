// ServiceShards are the shards of a service as introspection sees them.
import type { Ownership } from '../engine/needs/ownership.ts';
import type { LimitCounts } from '../model/limit-counters.ts';
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
  /** Counts of the shards whose modules were admitted. */
  readonly numbers: readonly ShardNumbers[];
  /** The latest unexpected ends of the shards. */
  readonly ends: readonly ShardEnding[];
  readonly counters: { read(): LimitCounts };
  /** Asks a shard a question. Rejects with an SvcError if the shard does not answer. */
  ask<Question extends ShardQuestion>(
    shard: number,
    question: Question,
    timeoutMs: number,
  ): Promise<AnswerTo<Question>>;
}
