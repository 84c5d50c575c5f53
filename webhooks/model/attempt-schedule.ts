// AttemptSchedule: when the attempts of a delivery are made (document 3, "Limits"; issue 19, point 7 gives the exact times).
//
// Invariant: an attempt is made later under load, and never earlier. A time that is further ahead than any pause is one of a clock that
// was set back since, and counts as one pause ahead.

/** One attempt and ten retries. */
export const ATTEMPTS_MAX = 11;
/** From the end of a failed attempt to the next one. */
export const PAUSE_MS = 10_000;
/** From the beginning of an attempt that never ended to the next one: five seconds of waiting for an answer, and the pause. */
export const INTERRUPTED_MS = 15_000;
/** The first run, and those that an administrator has asked for. */
export const RUNS_MAX = 20;

const DAY_MS = 86_400_000;
/** Time for which a delivery is in the log (document 3, "Limits"), from its event on. */
export const KEPT_MS = 30 * DAY_MS;
/** Time after which a run that is still under way is ended. */
export const RUN_ENDS_MS = KEPT_MS + DAY_MS;

export interface NextAttempt {
  readonly run: number;
  /** Number of the attempt in its run, from 1 on. */
  readonly number: number;
  readonly dueAtMs: number;
}

/** Returns how long the next attempt has to wait, in milliseconds. After an interrupted one the entity says that it waits longer. */
export function waitOf({ dueAtMs }: Pick<NextAttempt, 'dueAtMs'>, nowMs: number): number {
  return Math.min(Math.max(dueAtMs - nowMs, 0), PAUSE_MS);
}

/** Whether an attempt would be early, as far as the time of day shows it. `pauseMs`: the pause before it. */
export function isEarly(
  { dueAtMs }: Pick<NextAttempt, 'dueAtMs'>,
  nowMs: number,
  pauseMs: number,
): boolean {
  return dueAtMs > nowMs && dueAtMs - nowMs <= pauseMs;
}

/** Whether a delivery is no longer in the log. */
export function isExpired(
  { occurredAtMs, outcome }: { readonly occurredAtMs: number; readonly outcome: string },
  nowMs: number,
): boolean {
  const ageMs = nowMs - occurredAtMs;
  return ageMs >= (outcome === 'pending' ? RUN_ENDS_MS : KEPT_MS);
}
