// What the main thread asks a shard, for somebody who looks on, and what the shard answers. Nothing of it is on the path
// of a request.
import type { Refusal, Reply } from '../model/call.ts';
import type { EntityRef } from '../model/entity.ts';
import type { SvcErrorCode } from '@svc/kit/svc-error';
import type { RecordedFault, RecordedSpan } from './recorder/recorded-span.ts';

export type ShardQuestion =
  /** Spans with `number > after` that are still kept, oldest first, at most `limit`. */
  | { readonly kind: 'spans'; readonly after: number; readonly limit: number }
  /** Runs a query, and nothing but a query. `input`: JSON text. */
  | {
      readonly kind: 'query';
      readonly target: EntityRef;
      readonly name: string;
      readonly input: string;
    };

export type ShardAnswer =
  | {
      readonly kind: 'spans';
      readonly spans: readonly RecordedSpan[];
      readonly recorded: number;
      /** Of the shard: one that was started again is another, and counts its spans from 1 again. */
      readonly threadId: number;
    }
  | { readonly kind: 'outcome'; readonly outcome: Reply | Refusal }
  /** The module has failed at it. */
  | { readonly kind: 'fault'; readonly fault: RecordedFault; readonly isLate: boolean }
  | { readonly kind: 'failed'; readonly code: SvcErrorCode; readonly message: string };

/** The answer to a question of that kind, where it does not fail. */
export type AnswerTo<Question extends ShardQuestion> = Question extends { kind: 'spans' }
  ? Extract<ShardAnswer, { kind: 'spans' }>
  : Extract<ShardAnswer, { kind: 'outcome' | 'fault' }>;
