// StoredTimers stores, changes and removes timers, in the writer's transactions.
//
// Invariants
// - What may refuse an append is checked by `plan`, which changes nothing, and by `endFiring`, which refuses before it has
//   changed anything; `carryOut` does not refuse.
// - No number of a timer is given twice while the journal is open, because numbers only grow, also where a transaction
//   fails.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { SvcError } from '@svc/kit/svc-error';
import type {
  FiredOccurrence,
  StoredTimer,
  TimerToStore,
  TimerWrite,
} from '../../engine/needs/timers.ts';
import type { EntityRef } from '@svc/model/entity';
import type { Occurrences } from '../../schedule/occurrences.ts';
import type { TimerLimits } from '@svc/model/timer-limits';
import {
  firstOccurrence,
  stateAfter,
  timerGone,
  timerOf,
  timersFull,
} from '../stored-timer-rules.ts';
import {
  ADD_TIMER,
  SERVICE_NO,
  TIMER_COLUMNS,
  TIMER_TABLES,
  type TimerRow,
  storedTimerOf,
  timerChecksum,
  timerValues,
} from './stored-timer-row.ts';
import type { AppendedTimers } from './timer-message.ts';

/** The owner of timers; the service has no entity. */
export interface Owner {
  readonly entityNo: number;
  readonly entity: EntityRef | undefined;
}

export const SERVICE: Owner = { entityNo: SERVICE_NO, entity: undefined };

/** Selects the timer that waits for an occurrence: number, due time and attempts. */
const WAITING = 'WHERE tno = ? AND due_ms = ? AND attempts = ? AND next_ms IS NOT NULL';

/** A timer that is set with the time at which it is due first, or a name whose timer is cancelled. */
type PlannedChange = StoredTimer | string;

/** The changes of an append that may be stored. */
export interface TimerPlan {
  readonly owner: Owner;
  readonly firing: AppendedTimers['firing'];
  readonly removesAll: boolean;
  readonly changes: readonly PlannedChange[];
}

export class StoredTimers {
  readonly #limits: TimerLimits;
  readonly #occurrences: Occurrences;
  readonly #find: StatementSync;
  readonly #findAll: StatementSync;
  readonly #add: StatementSync;
  readonly #update: StatementSync;
  readonly #remove: StatementSync;
  readonly #removeNamed: StatementSync;
  readonly #removeAll: StatementSync;
  readonly #namesOf: StatementSync;
  readonly #countOf: StatementSync;
  readonly #countAll: StatementSync;
  #lastNumber: number;
  /** Whether the table may have rows, so that a deletion has to look for timers. */
  #mayExist: boolean;
  /** The number of all timers; undefined until it is needed. */
  #count: number | undefined = undefined;
  #earliestMs = Infinity;

  /** Throws errors of SQLite. */
  constructor(database: DatabaseSync, limits: TimerLimits, occurrences: Occurrences) {
    this.#limits = limits;
    this.#occurrences = occurrences;
    this.#find = database.prepare(`SELECT ${TIMER_COLUMNS} FROM ${TIMER_TABLES} ${WAITING}`);
    this.#find.setReturnArrays(true);
    this.#find.setReadBigInts(true);
    this.#findAll = database.prepare(
      `SELECT ${TIMER_COLUMNS} FROM ${TIMER_TABLES} WHERE t.eno = ?`,
    );
    this.#findAll.setReturnArrays(true);
    this.#findAll.setReadBigInts(true);
    this.#add = database.prepare(ADD_TIMER);
    this.#update = database.prepare(
      'UPDATE timer SET due_ms = ?, next_ms = ?, attempts = ?, fault = ?, crc = ? WHERE tno = ?',
    );
    this.#remove = database.prepare(`DELETE FROM timer ${WAITING}`);
    this.#removeNamed = database.prepare('DELETE FROM timer WHERE eno = ? AND name = ?');
    this.#removeAll = database.prepare('DELETE FROM timer WHERE eno = ?');
    this.#namesOf = database.prepare('SELECT name FROM timer WHERE eno = ?');
    this.#countOf = database.prepare('SELECT count(*) AS count FROM timer WHERE eno = ?');
    this.#countAll = database.prepare('SELECT count(*) AS count FROM timer');
    this.#lastNumber = Number(
      database.prepare('SELECT max(tno) AS last FROM timer').get()?.['last'] ?? 0,
    );
    this.#mayExist = this.#lastNumber > 0;
  }

  /** Whether there may be timers. */
  get mayExist(): boolean {
    return this.#mayExist;
  }

  /** The number of all timers as far as it is known, to be restored when a transaction fails. */
  get count(): number | undefined {
    return this.#count;
  }

  restore(count: number | undefined): void {
    this.#count = count;
  }

  /** Returns the earliest time of a timer that was stored since the last call; Infinity: none was. */
  takeEarliestMs(): number {
    const earliestMs = this.#earliestMs;
    this.#earliestMs = Infinity;
    return earliestMs;
  }

  /**
   * Checks the changes of an append of an entity, which it deletes if `isDeleted`. Returns SVC_TIMER_GONE,
   * SVC_TIMERS_FULL, SVC_TIMER_INVALID or SVC_JOURNAL_CORRUPT if it may not be stored.
   */
  plan(
    owner: Owner,
    { firing, changes }: Pick<AppendedTimers, 'firing' | 'changes'>,
    isDeleted: boolean,
  ): TimerPlan | SvcError {
    const planned: PlannedChange[] = [];
    for (const change of changes) {
      const timer = change.kind === 'set' ? this.#timer(owner.entity, change) : change.name;
      if (timer instanceof SvcError) return timer;
      planned.push(timer);
    }
    const plan: TimerPlan = { owner, firing, removesAll: isDeleted, changes: planned };
    return this.#overflowOf(plan, changes) ?? plan;
  }

  /**
   * Removes or changes the timer whose firing a plan ends, in the transaction in which the plan was made. Returns
   * SVC_TIMER_GONE if the occurrence is not the timer's any more, or SVC_JOURNAL_CORRUPT, and then has changed nothing.
   * Throws errors of SQLite.
   */
  endFiring({ firing }: TimerPlan): SvcError | undefined {
    if (firing === undefined) return undefined;
    const { occurrence, end } = firing;
    const { number, dueMs, attempts } = occurrence;
    if (end.kind === 'remove')
      return this.#removed(this.#remove.run(number, dueMs, attempts).changes)
        ? undefined
        : timerGone();
    const before = this.#get(occurrence);
    if (before instanceof SvcError) return before;
    if (before === undefined) return timerGone();
    this.update({ ...before, ...stateAfter(before, end) });
    return undefined;
  }

  /** Carries out the rest of a plan, after `endFiring`. Throws errors of SQLite. */
  carryOut({ owner, removesAll, changes }: TimerPlan): void {
    if (removesAll) this.removeAll(owner.entityNo);
    for (const change of changes)
      if (typeof change === 'string') this.remove(owner, change);
      else this.#set(owner, change);
  }

  /** Removes all timers of a deleted entity. Throws errors of SQLite. */
  removeAll(entityNo: number): void {
    if (this.#mayExist) this.#removed(this.#removeAll.run(entityNo).changes);
  }

  /** Removes a timer, and returns whether it was there. Throws errors of SQLite. */
  remove({ entityNo }: Owner, name: string): boolean {
    return this.#removed(this.#removeNamed.run(entityNo, name).changes);
  }

  /** Returns the timers of an owner, indexed by name; a damaged one is undefined. Throws errors of SQLite. */
  ofOwner({ entityNo }: Owner): ReadonlyMap<string, StoredTimer | undefined> {
    const timers = new Map<string, StoredTimer | undefined>();
    for (const row of this.#findAll.all(entityNo) as unknown as readonly TimerRow[]) {
      const timer = timerIn(row);
      timers.set(row[1], timer instanceof SvcError ? undefined : timer);
    }
    return timers;
  }

  #set(owner: Owner, timer: StoredTimer): void {
    this.remove(owner, timer.name);
    this.#add.run(owner.entityNo, timerChecksum(timer), ...timerValues(timer));
    if (this.#count !== undefined) this.#count++;
    this.#mayExist = true;
    this.#noteNext(timer);
  }

  /** Stores a timer in another state. Throws errors of SQLite. */
  update(timer: StoredTimer): void {
    const { dueMs, nextMs, attempts, fault } = timer;
    const crc = timerChecksum(timer);
    this.#update.run(dueMs, nextMs ?? null, attempts, fault ?? null, crc, timer.number);
    this.#noteNext(timer);
  }

  #noteNext({ nextMs = Infinity }: StoredTimer): void {
    this.#earliestMs = Math.min(this.#earliestMs, nextMs);
  }

  #removed(count: number | bigint): boolean {
    if (this.#count !== undefined) this.#count -= Number(count);
    return Number(count) > 0;
  }

  /** Returns the timer that waits for an occurrence; undefined if none does. */
  #get({ number, dueMs, attempts }: FiredOccurrence): StoredTimer | SvcError | undefined {
    const row = this.#find.get(number, dueMs, attempts);
    return row && timerIn(row as unknown as TimerRow);
  }

  #timer(owner: EntityRef | undefined, set: TimerToStore): StoredTimer | SvcError {
    const dueMs = firstOccurrence(set, this.#occurrences);
    if (dueMs instanceof SvcError) return dueMs;
    return timerOf(++this.#lastNumber, owner, set, dueMs);
  }

  /** Returns SVC_TIMERS_FULL if the plan adds timers beyond the limits. */
  #overflowOf(
    { owner, firing, removesAll }: TimerPlan,
    changes: readonly TimerWrite[],
  ): SvcError | undefined {
    const sets = changes.filter(({ kind }) => kind === 'set').length;
    if (sets === 0) return undefined;
    const total = (this.#count ??= countIn(this.#countAll));
    const before = countIn(this.#countOf, owner.entityNo);
    const { max, perEntityMax } = this.#limits;
    const atMost = (removesAll ? 0 : before) + sets;
    if (atMost <= perEntityMax && total + sets <= max) return undefined;
    // Close to a limit, the names decide which changes replace a timer.
    const all = this.#namesOf.all(owner.entityNo).map((row) => String(row['name']));
    const names = new Set(removesAll ? [] : all);
    let removedElsewhere = 0;
    const removed = firing?.end.kind === 'remove' ? this.#get(firing.occurrence) : undefined;
    if (removed instanceof SvcError) return removed;
    if (removed !== undefined) {
      const isOwn = owner.entity !== undefined && isSame(removed.owner, owner.entity);
      if (isOwn) names.delete(removed.name);
      else removedElsewhere = 1;
    }
    for (const { kind, name } of changes)
      if (kind === 'set') names.add(name);
      else names.delete(name);
    return timersFull(
      owner.entity,
      {
        ofEntity: [before, names.size],
        ofService: [total, total - before + names.size - removedElsewhere],
      },
      this.#limits,
    );
  }
}

function isSame(one: EntityRef | undefined, other: EntityRef): boolean {
  return one?.component === other.component && one.id === other.id;
}

function countIn(statement: StatementSync, ...values: readonly number[]): number {
  return Number(statement.get(...values)?.['count']);
}

/** Returns the timer in a row; SVC_JOURNAL_CORRUPT if it is damaged. */
function timerIn(row: TimerRow): StoredTimer | SvcError {
  try {
    return storedTimerOf(row);
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
}
