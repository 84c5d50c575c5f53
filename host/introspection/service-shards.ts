// ServiceShards are the shards of a service as introspection sees them.
import type { Ownership } from '../engine/needs/ownership.ts';
import type { LimitCounts } from '../model/limit-counters.ts';
import type { ShardEnding } from '../shards/shard-ends.ts';
import type { ShardNumbers } from '../shards/shard-numbers.ts';
import type { AnswerTo, ShardQuestion } from '../shards/shard-questions.ts';

/** The shards of a service: threads, or the process of an embedded service as its only shard. */
export interface ServiceShards {
  readonly count: number;
  /** Which shard to ask about an entity. */
  readonly ownership: Ownership;
  /** Whether each shard serves. */
  readonly serving: readonly boolean[];
  /** What each shard has counted; shards whose module was not admitted yet are left out. */
  readonly numbers: readonly ShardNumbers[];
  /** The latest times that shards ended by themselves. */
  readonly ends: readonly ShardEnding[];
  readonly counters: { read(): LimitCounts };
  /** Rejects with an SvcError when the shard does not answer. */
  ask<Question extends ShardQuestion>(
    shard: number,
    question: Question,
    timeoutMs: number,
  ): Promise<AnswerTo<Question>>;
}
