// TimerReader reads timers that are on disk: for firing them in the order of their times, one by its number, and pages of
// all timers for operators. A damaged timer is reported, and never keeps the others from being read.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { SvcError } from '@svc/kit/svc-error';
import type { DuePosition, StoredTimer } from '../../engine/needs/timers.ts';
import type { TimerCounts } from '../timer-series.ts';
import type { TimerFilter, TimerPage } from '../work-inspection.ts';
import { openForReading } from './journal-file.ts';
import { countIn } from './journal-schema.ts';
import { journalFailure } from './sqlite-failure.ts';
import {
  DUE_COLUMNS,
  type DueTimerRead,
  SERVICE_NO,
  TIMER_COLUMNS,
  TIMER_TABLES,
  type TimerRow,
  dueTimerOf,
  storedTimerOf,
} from './stored-timer-row.ts';

const SELECT = `SELECT ${TIMER_COLUMNS} FROM ${TIMER_TABLES}`;
/** Through the index of `next_ms`, which ends with the row's number. */
const DUE = `SELECT ${DUE_COLUMNS} FROM ${TIMER_TABLES} WHERE t.next_ms <= ?1 AND (t.next_ms, t.tno) > (?2, ?3)
  ORDER BY t.next_ms, t.tno LIMIT ${countIn('?4')}`;
const EARLIEST = 'SELECT next_ms FROM timer WHERE next_ms > ? ORDER BY next_ms LIMIT 1';
const COUNTS = `SELECT count(*), count(next_ms), (SELECT min(next_ms) FROM timer WHERE next_ms IS NOT NULL) FROM timer`;
const OWNER_NO = '(SELECT eno FROM entity WHERE component = ?3 AND id = ?4)';
const LOWEST = -(2n ** 63n);

/** Opens a connection of its own. Throws SVC_JOURNAL_CORRUPT or SVC_JOURNAL_UNAVAILABLE. */
export function openTimerReader(path: string): TimerReader {
  try {
    return new TimerReader(openForReading(path), path);
  } catch (error) {
    throw journalFailure(error, 'opened', path);
  }
}

export class TimerReader {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
  }

  /** Same as `Journal.timer`. */
  timer(number: number): StoredTimer | undefined {
    const [row] = this.#rows(`${SELECT} WHERE t.tno = ?`, [number]);
    return row === undefined ? undefined : storedTimerOf(row);
  }

  /**
   * Returns timers that are due at a time, in milliseconds since 1970, in the order of `nextMs` and then of `number`, at
   * most `limit`. `after`: only those after this position. Inputs of more than 4 KiB are left out.
   */
  due(nowMs: number, limit: number, after?: DuePosition): TimerPage<DueTimerRead> {
    const { nextMs, number } = after ?? { nextMs: LOWEST, number: LOWEST };
    return pageOf(this.#rows(DUE, [nowMs, nextMs, number, limit]), dueTimerOf);
  }

  /** Returns the earliest `nextMs` after a time; undefined: there is none. */
  earliestMs(afterMs: number | bigint = LOWEST): number | undefined {
    const [row] = this.#rows(EARLIEST, [afterMs]);
    return row === undefined ? undefined : Number(row[0]);
  }

  /** Returns timers in the order in which they were set, with a number after `afterNumber`, at most `limit`. */
  list(filter: TimerFilter, afterNumber: number, limit: number): TimerPage {
    const { sql, values } = timerList(filter, afterNumber, limit);
    return pageOf(this.#rows(sql, values), storedTimerOf);
  }

  /** Counts the timers, a million in some 20 ms. */
  counts(): TimerCounts {
    const [row] = this.#rows(COUNTS, []) as unknown as readonly (readonly (bigint | null)[])[];
    const [all, pending, earliestMs] = row!;
    return {
      pending: Number(pending),
      dead: Number(all) - Number(pending),
      earliestMs: earliestMs === null ? undefined : Number(earliestMs),
    };
  }

  /** The statements that the next firings are read with. */
  get dueStatements(): readonly string[] {
    return [DUE, EARLIEST];
  }

  close(): void {
    this.#database.close();
  }

  #rows(sql: string, values: readonly (string | number | bigint)[]): readonly TimerRow[] {
    try {
      return this.#statement(sql).all(...values) as unknown as readonly TimerRow[];
    } catch (error) {
      throw journalFailure(error, 'read', this.#path);
    }
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    statement.setReturnArrays(true);
    // A damaged row may have any number.
    statement.setReadBigInts(true);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** Returns the statement that `TimerReader.list` runs, and the values that are bound to it. */
export function timerList(
  { owner, state }: TimerFilter,
  afterNumber: number,
  limit: number,
): { readonly sql: string; readonly values: readonly (string | number)[] } {
  const conditions = ['t.tno > ?1'];
  if (owner === 'service') conditions.push(`t.eno = ${SERVICE_NO}`);
  else if (owner !== undefined) conditions.push(`t.eno = ${OWNER_NO}`);
  if (state !== undefined)
    conditions.push(`t.next_ms IS ${state === 'pending' ? 'NOT NULL' : 'NULL'}`);
  return {
    sql: `${SELECT} WHERE ${conditions.join(' AND ')} ORDER BY t.tno LIMIT ${countIn('?2')}`,
    values: [afterNumber, limit, ...(typeof owner === 'object' ? [owner.component, owner.id] : [])],
  };
}

/** Returns the timers in rows, in the order of the rows. `timerOf` throws SVC_JOURNAL_CORRUPT for a damaged one. */
export function pageOf<T>(rows: readonly TimerRow[], timerOf: (row: TimerRow) => T): TimerPage<T> {
  const timers: T[] = [];
  const damaged: SvcError[] = [];
  for (const row of rows)
    try {
      timers.push(timerOf(row));
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      damaged.push(error);
    }
  const last = rows.at(-1);
  return {
    timers,
    damaged,
    last: last && { number: Number(last[0]), nextMs: Number(last[8] ?? Infinity) },
  };
}
