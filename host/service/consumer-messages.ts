// Messages between the main thread and the thread that delivers events to consumers.
import type { MessagePort } from 'node:worker_threads';
import type { ConsumerDescriptor } from '@svc/contract';
import type { ConsumerSettings } from '../consumers/consumer-settings.ts';
import type { ConsumerSettlement, StoredConsumer } from '../engine/needs/consumers.ts';
import type { SharedConsumers } from '@svc/model/consumer-series';
import type { EntityRef } from '@svc/model/entity';
import type { LogEntry } from '@svc/kit/log-entry';
import type { LogLimits } from '@svc/kit/log-limits';
import type { SvcErrorCode } from '@svc/kit/svc-error';
import type { FollowerConnection } from '../storage/follower-connection.ts';

/** Start data of the thread. */
export interface ConsumerThreadData {
  readonly connection: FollowerConnection;
  readonly consumers: readonly ConsumerDescriptor[];
  readonly settings: ConsumerSettings;
  readonly logLimits: LogLimits;
  /** Memory of the counts. */
  readonly series: SharedConsumers;
  /** The number of shards among which entities are divided. */
  readonly shards: number;
}

/** An SvcError on its way to another thread. */
export interface SentFailure {
  readonly code: SvcErrorCode;
  readonly message: string;
}

/** A request of an operator. */
export type ConsumerOrder =
  | { readonly kind: 'retry'; readonly consumer: string; readonly entity: EntityRef }
  | { readonly kind: 'retry-some'; readonly consumer: string }
  | {
      readonly kind: 'skip';
      readonly consumer: string;
      readonly entity: EntityRef;
      readonly seq: number;
      readonly reason: string;
    };

export type ToConsumerThread =
  /** A shard serves, and handles events that arrive at the other end of `port`, which replaces an earlier one. */
  | { readonly kind: 'shard'; readonly index: number; readonly port: MessagePort }
  /** The settlement with this number is on disk, or is concluded, or has failed. */
  | {
      readonly kind: 'settled';
      readonly number: number;
      readonly failure: SentFailure | undefined;
    }
  /** Operators have changed stored lanes. */
  | { readonly kind: 'renew' }
  | { readonly kind: 'order'; readonly number: number; readonly order: ConsumerOrder }
  /** No further event is delivered; the thread ends when those in flight are handled, or after `graceMs`. */
  | { readonly kind: 'stop'; readonly graceMs: number };

export type FromConsumerThread =
  | { readonly kind: 'log'; readonly entry: LogEntry }
  /** Asks the main thread to store a settlement. */
  | {
      readonly kind: 'settle';
      readonly number: number;
      readonly consumer: Pick<StoredConsumer, 'id' | 'start'>;
      readonly settlement: ConsumerSettlement;
    }
  /** Asks the main thread when no settlement of a consumer that has failed can be stored any more. */
  | { readonly kind: 'conclude'; readonly number: number; readonly consumer: string }
  /** Whether the order with this number has met what it is about, and is on disk; undefined: it has failed. */
  | {
      readonly kind: 'carried-out';
      readonly number: number;
      readonly isDone: boolean | undefined;
      readonly failure: SentFailure | undefined;
    };
