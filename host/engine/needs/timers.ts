// What the engine needs of a journal for timers: the timers that the journal holds, and what an append does to them.
//
// Invariants
// T1  A timer is stored, changed and removed in the transaction of an append, by the journal's one writer.
// T2  A firing that is settled by an append has removed or re-armed its timer in the same transaction, so its effect
//     happens once.
import type { EntityRef } from '@svc/model/entity';
import type { Schedule } from '@svc/model/timer';

/** A timer in the journal. */
export interface StoredTimer {
  /** Identifies this setting of the timer: setting it again gives another number. No number is given twice while the journal is open. */
  readonly number: number;
  /** The entity that the timer belongs to; undefined for a schedule of the service. */
  readonly owner: EntityRef | undefined;
  /** Unique among the timers of its owner. */
  readonly name: string;
  readonly target: EntityRef;
  readonly command: string;
  /** JSON text. */
  readonly input: string;
  /** Undefined: the timer is due once. */
  readonly schedule: Schedule | undefined;
  /** The occurrence that is due, in milliseconds since 1970-01-01T00:00:00Z. Retries do not change it. */
  readonly dueMs: number;
  /** When it is fired, in milliseconds since 1970-01-01T00:00:00Z: `dueMs`, or later for a retry. Undefined: the timer is dead. */
  readonly nextMs: number | undefined;
  /** The number of firings of this occurrence that have failed. */
  readonly attempts: number;
  /** The number of failed firings after which the timer is dead; undefined: as many as the settings say. */
  readonly attemptsMax: number | undefined;
  /** Why the last firing failed; undefined: none has. */
  readonly fault: string | undefined;
  /** When it was set, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly setMs: number;
  /** The `traceparent` of the call that set it; undefined if there was none. */
  readonly traceParent: string | undefined;
}

/** A timer that is not dead, as a dispatcher reads it. */
export interface DueTimer extends Pick<
  StoredTimer,
  'number' | 'target' | 'command' | 'schedule' | 'dueMs' | 'attempts' | 'traceParent'
> {
  readonly nextMs: number;
  /** JSON text; undefined: it is long, and is read when the timer is fired. */
  readonly input: string | undefined;
}

/** A position in the order of due timers, which is by `nextMs`, then by `number`. */
export type DuePosition = Pick<DueTimer, 'nextMs' | 'number'>;

/** The occurrence of a timer that a firing executes. It is the timer's only as long as all three are unchanged. */
export type FiredOccurrence = Pick<StoredTimer, 'number' | 'dueMs' | 'attempts'>;

/** The change that an append makes to the timer whose firing it ends. */
export type FiringEnd =
  /** The firing was answered, and the timer has no further occurrence. */
  | { readonly kind: 'remove' }
  /** The firing was answered; `dueMs` is the next occurrence. */
  | { readonly kind: 'rearm'; readonly dueMs: number }
  /** The firing has failed, and is tried again at `nextMs`. */
  | { readonly kind: 'retry'; readonly nextMs: number; readonly fault: string }
  /** The firing has failed for the last time. */
  | { readonly kind: 'dead'; readonly fault: string };

/** A timer that an append stores. `due`: the time, or the schedule whose first occurrence after `setMs` the journal finds. */
export interface TimerToStore {
  readonly kind: 'set';
  readonly name: string;
  readonly target: EntityRef;
  readonly command: string;
  readonly input: string;
  readonly due: { readonly kind: 'at'; readonly atMs: number } | Schedule;
  readonly attemptsMax: number | undefined;
  readonly setMs: number;
  readonly traceParent: string | undefined;
}

export type TimerWrite = TimerToStore | { readonly kind: 'cancel'; readonly name: string };

/**
 * The changes that an append makes to timers. First the firing ends. If its occurrence is not the timer's any more, the append fails with
 * SVC_TIMER_GONE, and stores nothing. A deletion among the records removes all timers of the entity. Then `changes` are
 * carried out in order, on the timers of the append's entity.
 */
export interface TimerWrites {
  readonly firing?: { readonly occurrence: FiredOccurrence; readonly end: FiringEnd } | undefined;
  readonly changes: readonly TimerWrite[];
}
