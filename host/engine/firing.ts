// Firing: the execution of a due timer's command, as a dispatcher asks the engine for it, and how it ends.
import type { SvcError } from '@svc/kit/svc-error';
import { newTraceParent, traceParentText } from '@svc/kit/trace-context';
import type { Metadata, Refusal } from '@svc/model/call';
import type { RandomSource } from './needs/clock.ts';
import type { FiredOccurrence, StoredTimer } from './needs/timers.ts';

/** The occurrence that is due, and what becomes of its timer. */
export interface Firing extends FiredOccurrence {
  /** The timer's own target and command, which no change of the timer can alter without giving it another number. */
  readonly target: StoredTimer['target'];
  readonly command: string;
  /** JSON text. */
  readonly input: string;
  /** The `traceparent` of the call that has set the timer; undefined if there was none. */
  readonly traceParent: string | undefined;
  /**
   * The next occurrence of a recurring timer, in milliseconds since 1970-01-01T00:00:00Z; undefined: there is none, and
   * the timer is removed once the firing is answered.
   */
  readonly rearmMs: number | undefined;
  /** The number of occurrences that have passed since the one that is due, for which there is no firing of their own. */
  readonly missed: number;
  /** Why the next occurrence cannot be computed, which makes the timer dead; undefined: it can. */
  readonly scheduleProblem?: string | undefined;
}

export type FiringOutcome =
  /** The command was answered, and its effect is on disk, together with the end or the next occurrence of the timer. */
  | { readonly kind: 'replied' }
  /** The command was refused on purpose, which settles the timer like a reply. */
  | { readonly kind: 'refused'; readonly code: Refusal['code'] }
  /** The timer is not what it was: cancelled, replaced, or fired by somebody else. Nothing was stored. */
  | { readonly kind: 'gone' }
  /** The command has failed, and is to be tried again at `nextMs`, which is on disk. */
  | { readonly kind: 'retried'; readonly nextMs: number }
  /** The command has failed for the last time, which is on disk. */
  | { readonly kind: 'dead' }
  /**
   * The runtime could not execute the firing: nothing was stored, and it does not count as an attempt. Or, with
   * SVC_CALL_UNCERTAIN, it is unknown whether the firing or the failed attempt is stored. Fire again later: if it is, the
   * timer does not wait for this occurrence or this attempt any more, and the firing is `gone`.
   */
  | { readonly kind: 'unavailable'; readonly failure: SvcError };

/** Returns whether the occurrence is still the one that the timer waits for. */
export function isWaitingFor(
  timer: StoredTimer | undefined,
  { number, dueMs, attempts }: FiredOccurrence,
): timer is StoredTimer {
  return (
    timer?.number === number &&
    timer.dueMs === dueMs &&
    timer.attempts === attempts &&
    timer.nextMs !== undefined
  );
}

/** Returns the metadata of a firing's command. Its trace is that of the call that has set the timer, or else a new one. */
export function firingMetadata(
  { traceParent, dueMs, missed }: Firing,
  random: RandomSource,
): Metadata {
  return [
    ['traceparent', traceParent ?? traceParentText(newTraceParent(random))],
    ['timer-due-ms', String(dueMs)],
    ['timer-missed', String(missed)],
  ];
}
