// JournalEntry is a piece of a whole journal, in a form that every kind of journal has: what an export is made of, and what is copied
// from one journal to another. The entries of a journal come in this order: consumers, lanes, timers, records in the commit order that
// tools show, replies, modules.
import type { JournalRecord } from '@svc/model/entity';
import type { StoredConsumer, StoredLane } from '../engine/needs/consumers.ts';
import type { StoredTimer } from '../engine/needs/timers.ts';
import type { JournalFinding, VerificationProgress } from './verification-step.ts';

export interface RecordEntry {
  readonly kind: 'record';
  /** From 1 on, without gaps. */
  readonly pos: number;
  readonly component: string;
  readonly id: string;
  readonly record: JournalRecord;
  /** Number of the module that has stored it; undefined: it is not known. */
  readonly module: number | undefined;
}

/** A stored reply to an idempotency key. */
export interface ReplyEntry {
  readonly kind: 'answer';
  readonly component: string;
  readonly id: string;
  readonly key: string;
  readonly digest: string;
  readonly timeMs: number;
  /** JSON text. */
  readonly outcome: string;
}

/** A module that has written the journal. */
export interface ModuleEntry {
  readonly kind: 'module';
  /** From 1 on, in the order in which the modules began to write. */
  readonly number: number;
  readonly fingerprint: string;
  /** Position of the first record that it has stored, or would have. */
  readonly fromPos: number;
  readonly timeMs: number;
  /** JSON text. */
  readonly descriptor: string;
}

export interface TimerEntry {
  readonly kind: 'timer';
  readonly timer: StoredTimer;
}

export interface ConsumerEntry {
  readonly kind: 'consumer';
  readonly id: string;
  readonly start: StoredConsumer['start'];
  /** Position of the last record before the first one that is not settled. */
  readonly pos: number;
}

export interface LaneEntry {
  readonly kind: 'lane';
  readonly consumer: string;
  readonly lane: StoredLane;
}

export type CopiedEntry =
  | RecordEntry
  | ReplyEntry
  | ModuleEntry
  | TimerEntry
  | ConsumerEntry
  | LaneEntry;

/** Damage is a finding among the entries. */
export type JournalEntry = CopiedEntry | JournalFinding | VerificationProgress;
