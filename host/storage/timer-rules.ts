// TimerRules are the rules of stored timers that every journal follows: when a new timer is due for the first time, what
// the end of a firing leaves of its timer, and the failures of appends with timers.
import type { FiringEnd, NextCronOccurrence, TimerToStore } from '../engine/needs/timers.ts';
import type { EntityRef } from '../model/entity.ts';
import type { TimerLimits } from '../model/timer-limits.ts';
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';

/** The part of a stored timer that the end of a firing changes; its names are those of StoredTimer. */
export interface TimerState {
  readonly dueMs: number;
  readonly nextMs: number | undefined;
  readonly attempts: number;
  readonly fault: string | undefined;
}

/** Returns the state of a timer for a new occurrence. */
export function armedAt(dueMs: number): TimerState {
  return { dueMs, nextMs: dueMs, attempts: 0, fault: undefined };
}

/** Returns the state of a timer after a firing; undefined: the timer is removed. */
export function stateAfter(
  { dueMs, attempts }: Pick<TimerState, 'dueMs' | 'attempts'>,
  end: FiringEnd,
): TimerState | undefined {
  switch (end.kind) {
    case 'remove':
      return undefined;
    case 'rearm':
      return armedAt(end.dueMs);
    case 'retry':
      return { dueMs, nextMs: end.nextMs, attempts: attempts + 1, fault: end.fault };
    case 'dead':
      return { dueMs, nextMs: undefined, attempts: attempts + 1, fault: end.fault };
  }
}

/** Returns when a timer is due for the first time, in milliseconds since 1970; SVC_TIMER_INVALID if it never is. */
export function firstOccurrence(
  { name, due, setMs }: Pick<TimerToStore, 'name' | 'due' | 'setMs'>,
  nextCron: NextCronOccurrence,
): number | SvcError {
  if (due.kind === 'at') return due.atMs;
  if (due.kind === 'every') return setMs + due.everyMs;
  let cause: unknown;
  try {
    const firstMs = nextCron(due, setMs);
    if (firstMs !== undefined) return firstMs;
  } catch (error) {
    cause = error;
  }
  const zone = due.zone === '' ? 'UTC' : `the time zone '${printable(due.zone)}'`;
  return new SvcError(
    'SVC_TIMER_INVALID',
    `The timer '${printable(name)}' was not set: its cron expression '${printable(due.expression)}' ` +
      `${cause === undefined ? 'has no occurrence' : 'cannot be evaluated'} in ${zone}. Correct the expression.`,
    { cause },
  );
}

/** Creates the failure of a firing whose occurrence is not its timer's any more. */
export function timerGone(): SvcError {
  return new SvcError(
    'SVC_TIMER_GONE',
    'The firing of a timer stored nothing, because the timer was cancelled, replaced or settled meanwhile. ' +
      'Nothing has to be done.',
  );
}

/** The number of timers before and after an append. */
export interface TimerCounts {
  readonly ofEntity: readonly [before: number, after: number];
  readonly ofService: readonly [before: number, after: number];
}

/** Returns SVC_TIMERS_FULL for an append that adds timers beyond the limits; undefined if it may be stored. */
export function timersFull(
  { component, id }: EntityRef,
  { ofEntity, ofService }: TimerCounts,
  { timersPerEntityMax, timersMax }: TimerLimits,
): SvcError | undefined {
  if (ofEntity[1] > timersPerEntityMax && ofEntity[1] > ofEntity[0])
    return new SvcError(
      'SVC_TIMERS_FULL',
      `Entity '${printable(id)}' of component '${printable(component)}' would have ${ofEntity[1]} timers, and ` +
        `${timersPerEntityMax} is the limit, so nothing was stored. Cancel timers, or raise svc.journal.timers-per-entity-max.`,
    );
  if (ofService[1] > timersMax && ofService[1] > ofService[0])
    return new SvcError(
      'SVC_TIMERS_FULL',
      `The service would have ${ofService[1]} timers, and ${timersMax} is the limit, so nothing was stored. ` +
        'Cancel timers, or raise svc.journal.timers-max.',
    );
  return undefined;
}
