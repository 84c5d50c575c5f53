// Firings: the firing of a due timer, with the next occurrence of a recurring one, as the runtime computes it.
import type { FiringEnd, Metadata, Occurrences, StoredTimer } from '@svc/host/tools';
import { TestFailure, type StackStart } from './test-failure.ts';

/** Most firings of one `advance`: a timer that is set again for the same time would fire for ever. */
const FIRINGS_MAX = 10_000;

export interface DueFiring {
  readonly timer: StoredTimer;
  /** The next occurrence of a recurring timer, in milliseconds since 1970; undefined: there is none. */
  readonly rearmMs: number | undefined;
  /** The number of occurrences between the one that is due and `rearmMs`. */
  readonly missed: number;
}

/** Returns the firing of a timer at a time, in milliseconds since 1970. */
export function firingOf(timer: StoredTimer, nowMs: number, occurrences: Occurrences): DueFiring {
  const { schedule, dueMs } = timer;
  const following = schedule && occurrences.following(schedule, dueMs, nowMs);
  return { timer, rearmMs: following?.dueMs, missed: following?.missed ?? 0 };
}

/** Returns the metadata by which the command of a firing learns of its timer. */
export function firingMetadata({ timer, missed }: DueFiring): Metadata {
  return [
    ['timer-due-ms', String(timer.dueMs)],
    ['timer-missed', String(missed)],
  ];
}

/** Returns the end of a firing that was answered. */
export function answeredEnd({ rearmMs }: DueFiring): FiringEnd {
  return rearmMs === undefined ? { kind: 'remove' } : { kind: 'rearm', dueMs: rearmMs };
}

/** Returns a time `ms` milliseconds later. Fails for a number that is not a length of time. */
export function later(nowMs: number, ms: number, stackStart: StackStart): number {
  if (Number.isSafeInteger(ms) && ms >= 0 && Number.isSafeInteger(nowMs + ms)) return nowMs + ms;
  throw new TestFailure(
    `advance takes milliseconds, a whole number that is not negative, and got ${ms}.`,
    stackStart,
  );
}

/** Fails if there were more firings than timers can have that are set sensibly. */
export function checkFiringCount(count: number, last: StoredTimer, stackStart: StackStart): void {
  if (count > FIRINGS_MAX)
    throw new TestFailure(
      `${FIRINGS_MAX} timers have fired in one advance, the last one is '${last.name}'. ` +
        'Advance by less time, or look for a timer that is set again and again for the same time.',
      stackStart,
    );
}
