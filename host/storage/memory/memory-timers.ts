// MemoryTimers holds the timers of a MemoryJournal.
import type {
  DuePosition,
  DueTimer,
  FiredOccurrence,
  StoredTimer,
  TimerToStore,
  TimerWrites,
} from '../../engine/needs/timers.ts';
import type { EntityRef } from '@svc/model/entity';
import type { Occurrences } from '../../schedule/occurrences.ts';
import type { TimerLimits } from '@svc/model/timer-limits';
import { SvcError } from '@svc/kit/svc-error';
import {
  firstOccurrence,
  retriedAt,
  scheduleChanges,
  stateAfter,
  timerGone,
  timerOf,
  timersFull,
} from '../stored-timer-rules.ts';
import type { ServiceSchedule } from '../timer-administration.ts';
import type { TimerCounts } from '../timer-series.ts';

/** A timer that is not dead, as a whole. */
export type WholeDueTimer = StoredTimer & DueTimer;

/** The timers of one entity, indexed by their names. */
type EntityTimers = ReadonlyMap<string, StoredTimer>;

const NONE: EntityTimers = new Map();

export class MemoryTimers {
  limits: TimerLimits;
  readonly #occurrences: Occurrences;
  #lastNumber = 0;
  /** The result of `#pending`; undefined after a change. */
  #sorted: readonly WholeDueTimer[] | undefined = undefined;
  #earliestChangedMs = Infinity;
  readonly #byNumber = new Map<number, StoredTimer>();
  /** Indexed by component and id of the owner. */
  readonly #byOwner = new Map<string, EntityTimers>();

  constructor(limits: TimerLimits, occurrences: Occurrences) {
    this.limits = limits;
    this.#occurrences = occurrences;
  }

  get(number: number): StoredTimer | undefined {
    return this.#byNumber.get(number);
  }

  /** Returns all timers, in the order of their numbers. */
  all(): readonly StoredTimer[] {
    return [...this.#byNumber.values()].toSorted((a, b) => a.number - b.number);
  }

  /**
   * Returns the timers whose firing is due, in the order of `nextMs` and then of `number`, at most `limit`. `after`: only
   * those after this place in the order.
   */
  due(
    nowMs: number,
    limit: number,
    after: DuePosition = { nextMs: -Infinity, number: 0 },
  ): readonly WholeDueTimer[] {
    return this.#pending()
      .filter(
        ({ nextMs, number }) =>
          nextMs <= nowMs &&
          (nextMs > after.nextMs || (nextMs === after.nextMs && number > after.number)),
      )
      .slice(0, limit);
  }

  /** Returns the earliest time after `afterMs` at which a firing is due, both in milliseconds since 1970; undefined: there is none. */
  earliestMs(afterMs = -Infinity): number | undefined {
    return this.#pending().find(({ nextMs }) => nextMs > afterMs)?.nextMs;
  }

  counts(): TimerCounts {
    const pending = this.#pending();
    const { size } = this.#byNumber;
    return {
      pending: pending.length,
      dead: size - pending.length,
      earliestMs: pending[0]?.nextMs,
    };
  }

  /**
   * Makes the changes of an append of this entity, or of the service; `isDeleted` says whether the append deletes it. Returns the failure
   * of an append that may not be stored, which changes nothing; undefined if the changes were made.
   */
  apply(
    entity: EntityRef | undefined,
    isDeleted: boolean,
    { firing, changes }: TimerWrites,
  ): SvcError | undefined {
    const fired = firing && this.#fired(firing.occurrence);
    if (firing !== undefined && fired === undefined) return timerGone();
    const state = fired && stateAfter(fired, firing.end);
    const ended = fired && state && { ...fired, ...state };
    const before = this.#byOwner.get(keyOf(entity)) ?? NONE;
    const after = new Map(isDeleted ? NONE : before);
    const isOwn = fired !== undefined && before.get(fired.name) === fired;
    if (isOwn && !isDeleted) put(after, fired.name, ended);
    for (const change of changes) {
      const timer = change.kind === 'set' ? this.#timer(entity, change) : undefined;
      if (timer instanceof SvcError) return timer;
      put(after, change.name, timer);
    }
    const total = this.#byNumber.size;
    const removedElsewhere = fired !== undefined && !isOwn && ended === undefined ? 1 : 0;
    const full = timersFull(
      entity,
      {
        ofEntity: [before.size, after.size],
        ofService: [total, total - removedElsewhere - before.size + after.size],
      },
      this.limits,
    );
    if (full !== undefined) return full;
    if (fired !== undefined && !isOwn) this.#end(fired, ended);
    this.#replace(entity, before, after);
    return undefined;
  }

  /** Same as `TimerAdministration.reconcileSchedules`. Returns the failure; undefined if the changes were made. */
  reconcile(schedules: readonly ServiceSchedule[], nowMs: number): SvcError | undefined {
    const stored = this.#byOwner.get(keyOf(undefined)) ?? NONE;
    return this.apply(undefined, false, { changes: scheduleChanges(stored, schedules, nowMs) });
  }

  /** Returns the timer of an owner; undefined if there is none of this name. */
  named(owner: EntityRef | undefined, name: string): StoredTimer | undefined {
    return this.#byOwner.get(keyOf(owner))?.get(name);
  }

  /** Same as `TimerAdministration.retryTimer`. */
  retry(owner: EntityRef | undefined, name: string, nowMs: number): boolean {
    const timer = this.named(owner, name);
    const retried = timer && retriedAt(timer, nowMs);
    if (retried === undefined) return false;
    this.#end(timer!, retried);
    return true;
  }

  /** Returns the timer of an occurrence; undefined if the occurrence is not the timer's any more. */
  #fired({ number, dueMs, attempts }: FiredOccurrence): StoredTimer | undefined {
    const timer = this.#byNumber.get(number);
    return timer?.dueMs === dueMs && timer.attempts === attempts && timer.nextMs !== undefined
      ? timer
      : undefined;
  }

  #timer(owner: EntityRef | undefined, set: TimerToStore): StoredTimer | SvcError {
    const dueMs = firstOccurrence(set, this.#occurrences);
    if (dueMs instanceof SvcError) return dueMs;
    return timerOf(++this.#lastNumber, owner, set, dueMs);
  }

  /** Changes the fired timer of another entity, or removes it. */
  #end(fired: StoredTimer, ended: StoredTimer | undefined): void {
    const before = this.#byOwner.get(keyOf(fired.owner)) ?? NONE;
    const after = new Map(before);
    put(after, fired.name, ended);
    this.#replace(fired.owner, before, after);
  }

  #replace(owner: EntityRef | undefined, before: EntityTimers, after: EntityTimers): void {
    for (const { number } of before.values()) this.#byNumber.delete(number);
    for (const timer of after.values()) this.#byNumber.set(timer.number, timer);
    if (after.size === 0) this.#byOwner.delete(keyOf(owner));
    else this.#byOwner.set(keyOf(owner), after);
    this.#sorted = undefined;
    for (const timer of after.values())
      if (before.get(timer.name) !== timer && timer.nextMs !== undefined)
        this.#earliestChangedMs = Math.min(this.#earliestChangedMs, timer.nextMs);
  }

  /** Returns when the earliest timer is fired that was set or put off since the last call; Infinity: there is none. */
  takeEarliestMs(): number {
    const earliestMs = this.#earliestChangedMs;
    this.#earliestChangedMs = Infinity;
    return earliestMs;
  }

  /** Returns the timers that are not dead, in the order of their firings. */
  #pending(): readonly WholeDueTimer[] {
    if (this.#sorted !== undefined) return this.#sorted;
    const pending: WholeDueTimer[] = [];
    for (const timer of this.#byNumber.values())
      if (timer.nextMs !== undefined) pending.push({ ...timer, nextMs: timer.nextMs });
    this.#sorted = pending.toSorted(
      (one, other) => one.nextMs - other.nextMs || one.number - other.number,
    );
    return this.#sorted;
  }
}

function put(timers: Map<string, StoredTimer>, name: string, timer: StoredTimer | undefined): void {
  if (timer === undefined) timers.delete(name);
  else timers.set(name, timer);
}

/** Returns a unique text; the empty text stands for the service. */
function keyOf(owner: EntityRef | undefined): string {
  return owner === undefined ? '' : `${owner.component}\n${owner.id}`;
}
