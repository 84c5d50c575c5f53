// PostgresConnection is the value with which a thread uses the journal in PostgreSQL that another thread has opened.
import type { MessagePort } from 'node:worker_threads';
import type { SvcErrorCode } from '@svc/kit/svc-error';
import type { TimerLimits } from '@svc/model/timer-limits';
import type { DatabaseSource } from './database-source.ts';

/** The data with which a thread follows the journal. */
export interface PostgresFollowing {
  readonly kind: 'postgres';
  readonly source: DatabaseSource;
  /** Name of the database in messages. */
  readonly shown: string;
  /** Id of the journal. */
  readonly journal: string;
  /** The uid of the node, which owns leases of views by it. */
  readonly node: string;
  /** Shared memory of the heads of all slices (feed/slice-heads.ts). */
  readonly heads: SharedArrayBuffer;
  /** Shared memory of the owners of all slices (nodes/slice-table.ts). */
  readonly owners: SharedArrayBuffer;
  /** The slices whose events the thread delivers to consumers; absent: all. */
  readonly consumed?: readonly number[] | undefined;
}

export interface PostgresConnection extends PostgresFollowing {
  /** The slices that the thread writes: the first one, and how many. No other thread writes them. */
  readonly slices: readonly [first: number, count: number];
  /** Shared memory of the alarm that wakes the thread that fires timers (storage/timer-alarm.ts). */
  readonly alarm: SharedArrayBuffer;
  readonly timerLimits: TimerLimits;
  /** Shared memory of the number of the module that writes (writing-module.ts). */
  readonly module: SharedArrayBuffer;
  /** Shared memory of the lease of the node (node-lease.ts). */
  readonly lease: SharedArrayBuffer;
  /** Shared memory of the room that is left in the journal (journal-room.ts). */
  readonly room: SharedArrayBuffer;
  /** For so long the outcome of a write is looked for whose connection was lost, in milliseconds. */
  readonly uncertainMs: number;
  /** The port takes a UserReport to the thread that has opened the journal, and brings a UserRequest from there. */
  readonly ports: readonly [reports: MessagePort];
}

/** The report of a user of the journal: a group was stored, or the journal cannot be used any more. */
export type UserReport =
  | {
      readonly kind: 'stored';
      readonly appends: number;
      readonly records: number;
      /** How long it took, in milliseconds. */
      readonly tookMs: number;
    }
  | { readonly kind: 'ended'; readonly code: SvcErrorCode; readonly message: string }
  /** The owners of slices may have changed. */
  | { readonly kind: 'look' }
  /** Nothing of the slices that were to be released is under way any more. */
  | { readonly kind: 'released'; readonly number: number };

/** A request of the thread that has opened the journal to a user of it. */
export type UserRequest =
  /** Let go of those of the slices that the user writes. */
  | { readonly kind: 'release'; readonly number: number; readonly slices: readonly number[] }
  /** The release has ended: the slices belong to another node, or stay. */
  | { readonly kind: 'release-ended'; readonly number: number };
