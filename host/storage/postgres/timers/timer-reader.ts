// PostgresTimerReader reads the timers of a journal in PostgreSQL: for firing them in the order of their times, and one by its
// number. A damaged timer is reported, and never keeps the others from being read.
import { SLICE_COUNT } from '@svc/model/slice';
import { SvcError } from '@svc/kit/svc-error';
import type { TimerSource } from '../../../engine/needs/timer-source.ts';
import type { DuePosition, DueTimer, StoredTimer } from '../../../engine/needs/timers.ts';
import type { TimerCounts } from '../../timer-series.ts';
import { databaseError } from '../database-errors.ts';
import { DatabaseFailure } from '../database-failure.ts';
import type { DatabaseSession, Parameter, Row, Statement } from '../database-session.ts';
import {
  DUE_COLUMNS,
  NEXT_MS,
  NUMBER,
  TIMER_COLUMNS,
  dueTimerOfRow,
  timerOfRow,
} from './timer-row.ts';

const ONE: Statement = {
  name: 'timer-one',
  text: `SELECT ${TIMER_COLUMNS} FROM svc.timer t WHERE t.number = $1::bigint`,
};
/** Through the index of `next_ms`, which ends with the number. */
const DUE: Statement = {
  name: 'timers-due',
  text: `SELECT ${DUE_COLUMNS} FROM svc.timer t
    WHERE t.next_ms <= $1::bigint AND (t.next_ms, t.number) > ($2::bigint, $3::bigint)
      AND ($5::int2[] IS NULL OR t.target_slice = ANY($5))
    ORDER BY t.next_ms, t.number LIMIT $4::bigint`,
};
const EARLIEST: Statement = {
  name: 'timers-earliest',
  // An unqualified name would order by the text.
  text: `SELECT t.next_ms::text FROM svc.timer t
    WHERE t.next_ms > $1::bigint AND ($2::int2[] IS NULL OR t.target_slice = ANY($2))
    ORDER BY t.next_ms LIMIT 1`,
};
/** Reads no row of a timer that is not dead. */
const COUNTS: Statement = {
  name: 'timers-counts',
  text: `SELECT (SELECT sum(timers) FROM svc.timer_count)::text,
    (SELECT count(*) FROM svc.timer WHERE next_ms IS NULL)::text,
    (SELECT min(next_ms) FROM svc.timer WHERE next_ms IS NOT NULL)::text`,
};

const LOWEST = String(-(2n ** 63n));
/** Latest time and greatest limit that are sent to the database. */
const HIGHEST = Number.MAX_SAFE_INTEGER;

/** Every method rejects as `databaseError` says if the database does not answer, such as with SVC_JOURNAL_UNAVAILABLE. */
export class PostgresTimerReader implements TimerSource {
  readonly #session: Pick<DatabaseSession, 'query' | 'shown'>;
  readonly #onDamage: (error: unknown) => void;
  readonly #slices: (() => readonly number[]) | undefined;

  /**
   * `onDamage` receives an SvcError for each damaged timer that `due` or `input` meets, each time. `slices`: returns those whose
   * entities are the targets of the timers that `due` and `earliestMs` read; absent: all.
   */
  constructor(
    session: Pick<DatabaseSession, 'query' | 'shown'>,
    onDamage: (error: unknown) => void,
    slices?: () => readonly number[],
  ) {
    this.#session = session;
    this.#onDamage = onDamage;
    this.#slices = slices;
  }

  /** Same as `Journal.timer`. Rejects with SVC_JOURNAL_CORRUPT if the timer is damaged. */
  async timer(number: number): Promise<StoredTimer | undefined> {
    const timer = await this.#timer(number);
    if (timer instanceof SvcError) throw timer;
    return timer;
  }

  async due(
    nowMs: number,
    limit: number,
    after: DuePosition | undefined,
  ): Promise<readonly DueTimer[]> {
    const found: DueTimer[] = [];
    // As texts: the position of a damaged timer may be any.
    let from: readonly [nextMs: string, number: string] =
      after === undefined ? [LOWEST, LOWEST] : [integer(after.nextMs), integer(after.number)];
    const slices = this.#read();
    // A page of damaged timers alone must not look like the end.
    for (;;) {
      const asked = Math.min(limit - found.length, HIGHEST);
      const rows = await this.#rows(DUE, [integer(nowMs), ...from, integer(asked), slices]);
      for (const row of rows) {
        const timer = dueTimerOfRow(row);
        if (timer instanceof SvcError) this.#onDamage(timer);
        else found.push(timer);
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < asked || found.length >= limit) return found;
      from = [last[NEXT_MS] as string, last[NUMBER] as string];
    }
  }

  async input(number: number): Promise<string | undefined> {
    const timer = await this.#timer(number);
    if (!(timer instanceof SvcError)) return timer?.input;
    this.#onDamage(timer);
    return undefined;
  }

  async earliestMs(afterMs: number): Promise<number | undefined> {
    const [row] = await this.#rows(EARLIEST, [integer(afterMs), this.#read()]);
    return row === undefined ? undefined : Number(row[0]);
  }

  /** Counts the timers; the time that it takes does not depend on the number of those that are not dead. */
  async counts(): Promise<TimerCounts> {
    const [row] = await this.#rows(COUNTS, []);
    const [all, dead, earliestMs] = row as readonly (string | null)[];
    return {
      pending: Math.max(0, Number(all) - Number(dead)),
      dead: Number(dead),
      earliestMs: typeof earliestMs === 'string' ? Number(earliestMs) : undefined,
    };
  }

  /** Returns the slices whose timers are read; null: all. */
  #read(): readonly number[] | null {
    const slices = this.#slices?.();
    return slices === undefined || slices.length === SLICE_COUNT ? null : slices;
  }

  async #timer(number: number): Promise<StoredTimer | SvcError | undefined> {
    const [row] = await this.#rows(ONE, [integer(number)]);
    return row && timerOfRow(row);
  }

  async #rows(statement: Statement, values: readonly Parameter[]): Promise<readonly Row[]> {
    try {
      return await this.#session.query(statement, values);
    } catch (error) {
      throw error instanceof DatabaseFailure ? databaseError(error, this.#session.shown) : error;
    }
  }
}

/** Returns the greatest whole number that is not above a number, within what the database can have. */
function integer(number: number): string {
  if (number === -Infinity) return LOWEST;
  return String(Math.max(-HIGHEST, Math.min(HIGHEST, Math.floor(number))));
}
