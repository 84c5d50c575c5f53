// TimerChanges are the changes that a group of appends makes to timers. They are stored in the transaction of the group:
//
//   BEGIN ISOLATION LEVEL READ COMMITTED
//   load      locks the timers that the appends concern
//   apply     for each append, in order; an append that is refused leaves the group
//   (the statement that stores the records of the appends, and locks their slices)
//   store
//   COMMIT
//
// Invariants
// - An append is applied as a whole, or changes nothing. It sees the changes of the appends before it.
// - All appends that were applied are stored, or none. If a slice turns out to be lost, the group is rolled back, and the appends of
//   the other slices are repeated in another transaction: one of them may have seen the changes of an append that is not stored.
// - Timers are removed and changed by whoever has locked them. If two transactions add a timer of the same owner and name, which they can
//   if one of them is a detached append, the second one fails with SQLSTATE 23505, and is repeated.
// - The limit of all timers is exact while fewer than FREE_MIN timers are free: then transactions that add timers wait for each
//   other. Above that, it can only be exceeded by groups that add more than FREE_MIN timers at the same moment.
// - The limit of one entity is exact for appends of the owner of its slice. Others may exceed it with timers that they add at the same
//   moment.
import assert from 'node:assert';
import { SvcError } from '@svc/kit/svc-error';
import type { EntityRef } from '@svc/model/entity';
import { sliceOf } from '@svc/model/slice';
import type { TimerLimits } from '@svc/model/timer-limits';
import type {
  FiredOccurrence,
  FiringEnd,
  StoredTimer,
  TimerToStore,
  TimerWrites,
} from '../../../engine/needs/timers.ts';
import type { Occurrences } from '../../../schedule/occurrences.ts';
import {
  firstOccurrence,
  stateAfter,
  timerGone,
  timerOf,
  timersFull,
} from '../../stored-timer-rules.ts';
import type { DatabaseSession, Row } from '../database-session.ts';
import { isStorable, unstorable } from './storable-timer.ts';
import { DUE_MS, timerOfRow } from './timer-row.ts';
import {
  COMMON_PART,
  type ConcernedTimers,
  type TimerRoom,
  lockTimers,
  lockTotal,
  readRoom,
  storeTimers,
} from './timer-statements.ts';

/** The rules that a journal has for its timers. */
export interface TimerRules {
  readonly limits: TimerLimits;
  readonly occurrences: Occurrences;
}

/** The part of an append that concerns timers. */
export interface TimersOfAppend {
  /** Undefined: the service. */
  readonly entity: EntityRef | undefined;
  /** Whether the append deletes the entity. */
  readonly isDeleted: boolean;
  readonly writes: TimerWrites;
}

/** A timer as it was loaded. */
interface LoadedTimer extends Pick<
  StoredTimer,
  'number' | 'owner' | 'name' | 'dueMs' | 'nextMs' | 'attempts'
> {
  readonly row: Row;
}

/** A timer after the changes of the appends so far; a LoadedTimer: none has changed it. */
type CurrentTimer = LoadedTimer | StoredTimer;

/** The concerned timers of one owner, indexed by name. */
type OwnerTimers = ReadonlyMap<string, CurrentTimer>;

const NONE: OwnerTimers = new Map();

/** While fewer timers than these are free, the limit of all timers is exact. */
const FREE_MIN = 10_000;

export class TimerChanges {
  readonly #rules: TimerRules;
  readonly #loaded = new Map<number, LoadedTimer>();
  readonly #current = new Map<number, CurrentTimer>();
  /** Indexed by `keyOf` the owner. */
  readonly #byOwner = new Map<string, OwnerTimers>();
  /** The number of timers of the owners for which appends set timers, indexed by `keyOf` the owner. */
  readonly #counts = new Map<string, number>();
  #total: number;
  /** Numbers for new timers, the next one last. */
  readonly #numbers: number[];
  /** The part of `timer_count` that counts the changes; undefined until an append is applied. */
  #part: number | undefined = undefined;

  private constructor(
    rules: TimerRules,
    rows: readonly Row[],
    setting: readonly EntityRef[],
    { total, counts, numbers }: TimerRoom,
  ) {
    this.#rules = rules;
    this.#total = total;
    this.#numbers = numbers.toReversed();
    for (const [index, owner] of setting.entries()) this.#counts.set(keyOf(owner), counts[index]!);
    const byOwner = new Map<string, Map<string, CurrentTimer>>();
    for (const row of rows) {
      const timer = loadedTimer(row);
      this.#loaded.set(timer.number, timer);
      this.#current.set(timer.number, timer);
      const key = keyOf(timer.owner);
      const timers = byOwner.get(key) ?? new Map<string, CurrentTimer>();
      byOwner.set(key, timers.set(timer.name, timer));
    }
    this.#byOwner = byOwner;
  }

  /** Locks and reads the timers that the appends concern, in an open transaction. Rejects with DatabaseFailure. */
  static async load(
    session: DatabaseSession,
    appends: readonly TimersOfAppend[],
    rules: TimerRules,
  ): Promise<TimerChanges> {
    const sets = appends.flatMap(({ entity, writes }) =>
      writes.changes.filter(({ kind }) => kind === 'set').map(() => entity),
    );
    const setting = entitiesOf(sets);
    // The second statement does not wait for the answer of the first one, but sees what was stored while that one waited.
    const [rows, counted] = await Promise.all([
      lockTimers(session, concernedBy(appends)),
      sets.length === 0 ? undefined : readRoom(session, setting, sets.length),
    ]);
    const room = counted ?? { total: 0, counts: [], numbers: [] };
    const isNear = counted !== undefined && room.total + sets.length > rules.limits.max - FREE_MIN;
    const total = isNear ? await lockTotal(session) : room.total;
    return new TimerChanges(rules, rows, setting, { ...room, total });
  }

  /** Returns whether an owner has a timer of this name; one that no append of the group names is not known. */
  has(owner: EntityRef | undefined, name: string): boolean {
    return this.#byOwner.get(keyOf(owner))?.has(name) === true;
  }

  /**
   * Makes the changes of an append with which the object was loaded. Returns SVC_TIMER_GONE, SVC_TIMERS_FULL, SVC_TIMER_INVALID or
   * SVC_JOURNAL_CORRUPT if it may not be stored; then nothing is changed.
   */
  apply(
    entity: EntityRef | undefined,
    isDeleted: boolean,
    { firing, changes }: TimerWrites,
  ): SvcError | undefined {
    const fired = firing && this.#fired(firing.occurrence);
    if (firing !== undefined && fired === undefined) return timerGone();
    const ended = fired && endedTimer(fired, firing.end);
    if (ended instanceof SvcError) return ended;
    const before = this.#byOwner.get(keyOf(entity)) ?? NONE;
    const after = new Map(isDeleted ? NONE : before);
    const isOwn = fired !== undefined && before.get(fired.name) === fired;
    if (isOwn && !isDeleted) put(after, fired.name, ended);
    for (const change of changes) {
      const timer = change.kind === 'set' ? this.#timer(entity, change) : undefined;
      if (timer instanceof SvcError) return timer;
      put(after, change.name, timer);
    }
    const removedElsewhere = fired !== undefined && !isOwn && ended === undefined ? 1 : 0;
    const full = this.#overflowOf(entity, after.size - before.size, removedElsewhere);
    if (full !== undefined) return full;
    this.#part ??= entity === undefined ? COMMON_PART : sliceOf(entity.component, entity.id);
    if (fired !== undefined && !isOwn) this.#end(fired, ended);
    this.#replace(entity, before, after);
    return undefined;
  }

  /**
   * Stores the changes of all appends that were applied, in the transaction in which the object was loaded. Returns when the
   * earliest timer is fired that was set or changed, in milliseconds since 1970; Infinity: there is none. Rejects with
   * DatabaseFailure.
   */
  async store(session: DatabaseSession): Promise<number> {
    const removed = [...this.#loaded.keys()].filter((number) => !this.#current.has(number));
    const written = [...this.#current.values()].filter((timer) => isWritten(timer));
    const changed = written.filter(({ number }) => this.#loaded.has(number));
    const added = written.filter(({ number }) => !this.#loaded.has(number));
    await storeTimers(session, { removed, changed, added, part: this.#part ?? COMMON_PART });
    return written.reduce((least, { nextMs = Infinity }) => Math.min(least, nextMs), Infinity);
  }

  /** Returns the timer of an occurrence; undefined if the occurrence is not the timer's any more. */
  #fired({ number, dueMs, attempts }: FiredOccurrence): CurrentTimer | undefined {
    const timer = this.#current.get(number);
    return timer?.dueMs === dueMs && timer.attempts === attempts && timer.nextMs !== undefined
      ? timer
      : undefined;
  }

  #timer(owner: EntityRef | undefined, set: TimerToStore): StoredTimer | SvcError {
    const dueMs = firstOccurrence(set, this.#rules.occurrences);
    if (dueMs instanceof SvcError) return dueMs;
    const number = this.#numbers.pop();
    assert(number !== undefined, 'the timers were loaded without this append');
    const timer = timerOf(number, owner, set, dueMs);
    return unstorable(timer) ?? timer;
  }

  /** Returns SVC_TIMERS_FULL for an append that adds timers beyond the limits. */
  #overflowOf(
    entity: EntityRef | undefined,
    added: number,
    removedElsewhere: number,
  ): SvcError | undefined {
    if (added <= 0) return undefined;
    const count = this.#counts.get(keyOf(entity)) ?? 0;
    const total = this.#total;
    return timersFull(
      entity,
      {
        ofEntity: [count, count + added],
        ofService: [total, total + added - removedElsewhere],
      },
      this.#rules.limits,
    );
  }

  /** Changes the fired timer of another entity, or removes it. */
  #end(fired: CurrentTimer, ended: StoredTimer | undefined): void {
    const before = this.#byOwner.get(keyOf(fired.owner)) ?? NONE;
    const after = new Map(before);
    put(after, fired.name, ended);
    this.#replace(fired.owner, before, after);
  }

  #replace(owner: EntityRef | undefined, before: OwnerTimers, after: OwnerTimers): void {
    const key = keyOf(owner);
    const growth = after.size - before.size;
    this.#total += growth;
    const count = this.#counts.get(key);
    if (count !== undefined) this.#counts.set(key, count + growth);
    for (const { number } of before.values()) this.#current.delete(number);
    for (const timer of after.values()) this.#current.set(timer.number, timer);
    this.#byOwner.set(key, after);
  }
}

/** Returns the timers that the appends concern. */
function concernedBy(appends: readonly TimersOfAppend[]): ConcernedTimers {
  const ends = appends.flatMap(({ writes }) => writes.firing ?? []);
  const fired = ends.filter(({ occurrence }) => Number.isSafeInteger(occurrence.number));
  return {
    named: appends.flatMap(({ entity, writes }) =>
      writes.changes
        .filter(({ name }) => isStorable(name) && isStorableEntity(entity))
        .map(({ name }) => ({ owner: entity, name })),
    ),
    owners: entitiesOf(appends.map(({ entity, isDeleted }) => (isDeleted ? entity : undefined))),
    numbers: fired.map(({ occurrence }) => occurrence.number),
    wholeNumbers: fired
      .filter(({ end }) => end.kind !== 'remove')
      .map(({ occurrence }) => occurrence.number),
  };
}

/** Returns each entity once, without the service and entities that the database cannot have. */
function entitiesOf(owners: readonly (EntityRef | undefined)[]): readonly EntityRef[] {
  const entities = new Map<string, EntityRef>();
  for (const owner of owners)
    if (owner !== undefined && isStorableEntity(owner)) entities.set(keyOf(owner), owner);
  return [...entities.values()];
}

function isStorableEntity(entity: EntityRef | undefined): boolean {
  return entity === undefined || (isStorable(entity.component) && isStorable(entity.id));
}

/** Returns the timer after its firing; undefined: it is removed. */
function endedTimer(fired: CurrentTimer, end: FiringEnd): StoredTimer | SvcError | undefined {
  if (end.kind === 'remove') return undefined;
  const whole = isLoaded(fired) ? timerOfRow(fired.row) : fired;
  if (whole instanceof SvcError) return whole;
  const ended = { ...whole, ...stateAfter(whole, end) };
  return unstorable(ended) ?? ended;
}

/** Returns what a row says, damaged or not: damage is found when the timer is fired. */
function loadedTimer(row: Row): LoadedTimer {
  const [number, component, id, name] = row as readonly [
    string,
    string | null,
    string | null,
    string,
  ];
  const [dueMs, nextMs, attempts] = row.slice(DUE_MS, DUE_MS + 3) as [
    string,
    string | null,
    string,
  ];
  return {
    number: Number(number),
    owner: component === null || id === null ? undefined : { component, id },
    name,
    dueMs: Number(dueMs),
    nextMs: nextMs === null ? undefined : Number(nextMs),
    attempts: Number(attempts),
    row,
  };
}

function isLoaded(timer: CurrentTimer): timer is LoadedTimer {
  return 'row' in timer;
}

function isWritten(timer: CurrentTimer): timer is StoredTimer {
  return !isLoaded(timer);
}

function put<T>(timers: Map<string, T>, name: string, timer: T | undefined): void {
  if (timer === undefined) timers.delete(name);
  else timers.set(name, timer);
}

/** Returns a unique text; the empty text stands for the service. */
function keyOf(owner: EntityRef | undefined): string {
  return owner === undefined ? '' : `${owner.component}\n${owner.id}`;
}
