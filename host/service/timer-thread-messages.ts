// Messages between the main thread and the thread that dispatches firings.
import type { MessagePort } from 'node:worker_threads';
import type { TimerSettings } from '../engine/timer-settings.ts';
import type { FollowerConnection } from '../storage/follower-connection.ts';

/** Start data of the thread. */
export interface TimerThreadData {
  readonly connection: FollowerConnection;
  /** Shared memory of the alarm of the journal's writer. */
  readonly alarm: SharedArrayBuffer;
  /** Shared memory of the metrics of timers (storage/timer-series.ts). */
  readonly series: SharedArrayBuffer;
  readonly settings: TimerSettings;
  /** The number of shards among which entities are divided. */
  readonly shards: number;
}

export type ToTimerThread =
  /** A shard serves, and executes firings that arrive at the other end of `port`, which replaces an earlier one. */
  | { readonly kind: 'shard'; readonly index: number; readonly port: MessagePort }
  /** No further firing starts; the thread ends when those in flight have ended, or after `graceMs`. */
  | { readonly kind: 'stop'; readonly graceMs: number };

/** A failure for the log. The thread goes on. */
export interface FromTimerThread {
  readonly kind: 'failure';
  readonly message: string;
}
