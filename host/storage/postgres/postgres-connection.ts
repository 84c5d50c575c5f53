// PostgresConnection is the value with which a thread uses the journal in PostgreSQL that another thread has opened.
import type { TimerLimits } from '@svc/model/timer-limits';
import type { DatabaseSource } from './database-source.ts';

export interface PostgresConnection {
  readonly kind: 'postgres';
  readonly source: DatabaseSource;
  /** Name of the database in messages. */
  readonly shown: string;
  /** Id of the node that owns the slices. */
  readonly node: string;
  /** The slices that the thread writes: the first one, and how many. No other thread writes them. */
  readonly slices: readonly [first: number, count: number];
  /** Shared memory of the heads of all slices (slice-heads.ts). */
  readonly heads: SharedArrayBuffer;
  /** Shared memory of the alarm that wakes the thread that fires timers (storage/timer-alarm.ts). */
  readonly alarm: SharedArrayBuffer;
  readonly timerLimits: TimerLimits;
  /** Shared memory of the number of the module that writes (writing-module.ts). */
  readonly module: SharedArrayBuffer;
  /** For so long the outcome of a write is looked for whose connection was lost, in milliseconds. */
  readonly uncertainMs: number;
  readonly ports: readonly [];
}
