// Questions of the main thread to a shard, for introspection clients, and the shard's answers. None of this is on the
// path of a request.
import type { Refusal, Reply } from '@svc/model/call';
import type { EntityRef } from '@svc/model/entity';
import type { SvcErrorCode } from '@svc/kit/svc-error';
import type { RecordedFault, RecordedSpan } from './recorder/recorded-span.ts';

export type ShardQuestion =
  /** Asks for the spans in the window with `number > after`, oldest first, at most `limit`. */
  | { readonly kind: 'spans'; readonly after: number; readonly limit: number }
  /** Runs a query; commands are refused. `input`: JSON text. */
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
      /** Number of spans that the thread has recorded, also those that are no longer in the window. */
      readonly recorded: number;
      /** Id of the shard's thread. A restarted shard has another one, and numbers its spans from 1 again. */
      readonly threadId: number;
    }
  | { readonly kind: 'outcome'; readonly outcome: Reply | Refusal }
  /** The module faulted. `isLate`: it exceeded a time limit. */
  | { readonly kind: 'fault'; readonly fault: RecordedFault; readonly isLate: boolean }
  | { readonly kind: 'failed'; readonly code: SvcErrorCode; readonly message: string };

/** The answers to a question of this kind, without `failed`. */
export type AnswerTo<Question extends ShardQuestion> = Question extends { kind: 'spans' }
  ? Extract<ShardAnswer, { kind: 'spans' }>
  : Extract<ShardAnswer, { kind: 'outcome' | 'fault' }>;
