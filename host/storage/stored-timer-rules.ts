// StoredTimerRules are the rules that every journal follows for its timers: when a new timer is due for the first time, what
// the end of a firing leaves of its timer, and the failures of appends with timers.
import type { FiringEnd, StoredTimer, TimerToStore, TimerWrite } from '../engine/needs/timers.ts';
import type { EntityRef } from '@svc/model/entity';
import type { TimerLimits } from '@svc/model/timer-limits';
import type { Occurrences } from '../schedule/occurrences.ts';
import { isDeepStrictEqual } from 'node:util';
import type { ServiceSchedule } from './timer-administration.ts';
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
  occurrences: Occurrences,
): number | SvcError {
  if (due.kind === 'at') return due.atMs;
  let cause: unknown;
  try {
    const firstMs = occurrences.first(due, setMs);
    if (firstMs !== undefined) return firstMs;
  } catch (error) {
    cause = error;
  }
  const zone =
    due.kind === 'cron' && due.zone !== '' ? ` in the zone '${printable(due.zone)}'` : '';
  const schedule =
    due.kind === 'cron'
      ? `cron expression '${printable(due.expression)}'${zone}`
      : `period of ${due.everyMs} ms`;
  return new SvcError(
    'SVC_TIMER_INVALID',
    `The timer '${printable(name)}' was not set, because its ${schedule} ` +
      `${cause === undefined ? 'has no occurrence' : 'cannot be evaluated'}. Correct the schedule.`,
    { cause },
  );
}

/** Returns a timer that is set, and is due for the first time at `dueMs`. */
export function timerOf(
  number: number,
  owner: EntityRef | undefined,
  { name, target, command, input, due, attemptsMax, setMs, traceParent }: TimerToStore,
  dueMs: number,
): StoredTimer {
  return {
    number,
    owner,
    name,
    target,
    command,
    input,
    schedule: due.kind === 'at' ? undefined : due,
    attemptsMax,
    setMs,
    traceParent,
    ...armedAt(dueMs),
  };
}

/**
 * Returns the changes that make the timers of the service those of a list. `stored` is indexed by name; a damaged timer
 * is undefined.
 */
export function scheduleChanges(
  stored: ReadonlyMap<string, StoredTimer | undefined>,
  schedules: readonly ServiceSchedule[],
  nowMs: number,
): readonly TimerWrite[] {
  const wanted = new Set(schedules.map(({ id }) => id));
  const changes: TimerWrite[] = [];
  for (const name of stored.keys()) if (!wanted.has(name)) changes.push({ kind: 'cancel', name });
  for (const schedule of schedules)
    if (!isUnchanged(stored.get(schedule.id), schedule))
      changes.push(timerToStore(schedule, nowMs));
  return changes;
}

function isUnchanged(timer: StoredTimer | undefined, wanted: ServiceSchedule): boolean {
  return (
    // A dead one is set again, since its reason may have gone with the former module.
    timer?.nextMs !== undefined &&
    timer.target.component === wanted.target.component &&
    timer.target.id === wanted.target.id &&
    timer.command === wanted.command &&
    timer.input === wanted.input &&
    isDeepStrictEqual(timer.schedule, wanted.schedule)
  );
}

function timerToStore(
  { id, target, command, input, schedule }: ServiceSchedule,
  nowMs: number,
): TimerToStore {
  return {
    kind: 'set',
    name: id,
    target,
    command,
    input,
    due: schedule,
    attemptsMax: undefined,
    setMs: nowMs,
    traceParent: undefined,
  };
}

/** Returns the state of a dead timer that is tried again; undefined if the timer is not dead. */
export function retriedAt(timer: StoredTimer, nowMs: number): StoredTimer | undefined {
  return timer.nextMs === undefined ? { ...timer, nextMs: nowMs, attempts: 0 } : undefined;
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
export interface TimerGrowth {
  readonly ofEntity: readonly [before: number, after: number];
  readonly ofService: readonly [before: number, after: number];
}

/**
 * Returns SVC_TIMERS_FULL for an append of an entity that adds timers beyond the limits; undefined if it may be stored.
 * The service, without an entity, has no limit of its own.
 */
export function timersFull(
  entity: EntityRef | undefined,
  { ofEntity, ofService }: TimerGrowth,
  { perEntityMax, max }: TimerLimits,
): SvcError | undefined {
  if (entity !== undefined && ofEntity[1] > perEntityMax && ofEntity[1] > ofEntity[0])
    return new SvcError(
      'SVC_TIMERS_FULL',
      `Entity '${printable(entity.id)}' of component '${printable(entity.component)}' would have ${ofEntity[1]} timers, and ` +
        `${perEntityMax} is the limit, so nothing was stored. Cancel timers, or raise svc.timers.per-entity-max.`,
    );
  if (ofService[1] > max && ofService[1] > ofService[0])
    return new SvcError(
      'SVC_TIMERS_FULL',
      `The service would have ${ofService[1]} timers, and ${max} is the limit, so nothing was stored. ` +
        'Cancel timers, or raise svc.timers.max.',
    );
  return undefined;
}
