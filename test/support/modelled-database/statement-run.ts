// StatementRun is one execution of a statement: the versions of rows that it sees, and the locks that it takes. A row that it has waited
// for is judged again in its newest version, as PostgreSQL does at the level READ COMMITTED.
import { DatabaseFailure } from '../../../host/storage/postgres/database-failure.ts';
import type {
  Parameter,
  Row as ColumnRow,
} from '../../../host/storage/postgres/database-session.ts';
import type { Awaitable } from '../../../model/call.ts';
import type { VirtualProcess } from '../virtual/virtual-process.ts';
import type { Key, ModelledTables, Table } from './modelled-tables.ts';
import type { ModelledTransaction } from './modelled-transaction.ts';
import type { RowLocks } from './row-locks.ts';

/** What the model of a database does wrong on purpose. */
export interface DatabaseFlaws {
  /** The statement that appends looks at the slices, and locks none. */
  readonly fenceLocksNothing?: boolean;
}

export interface StatementNeeds {
  readonly process: VirtualProcess;
  readonly tables: ModelledTables;
  readonly locks: RowLocks;
  readonly transaction: ModelledTransaction;
  /** The last commit that the statement sees. */
  readonly commit: number;
  /** For so long a lock is waited for, in milliseconds; 0: without limit. */
  readonly lockTimeoutMs: number;
  /** Identifies the server and its timeline. */
  readonly history: string;
  /** Returns a number that was never returned before. */
  readonly nextNumber: (sequence: string) => number;
  readonly flaws: DatabaseFlaws;
}

/** Longest pause of a statement between two of its steps, in milliseconds. */
const STEP_MS = 0.3;

export class StatementRun {
  readonly needs: StatementNeeds;
  readonly tables: ModelledTables;
  readonly transaction: ModelledTransaction;

  constructor(needs: StatementNeeds) {
    this.needs = needs;
    this.tables = needs.tables;
    this.transaction = needs.transaction;
  }

  /** `clock_timestamp()`, in milliseconds since 1970. */
  get nowMs(): number {
    return this.needs.process.wallMs;
  }

  /** Lets other statements go on. */
  async step(): Promise<void> {
    const { process } = this.needs;
    await new Promise<void>((resolve) => {
      process.arrives(process.drawMs(STEP_MS), resolve);
    });
  }

  read<Row>(table: Table<Row>, key: Key): Row | undefined {
    return this.transaction.read(table, key, this.needs.commit);
  }

  rows<Row>(table: Table<Row>): Iterable<Row> {
    return this.transaction.rows(table, this.needs.commit);
  }

  /**
   * Locks a row that qualifies, and returns its newest version; undefined: there is none, or it does not qualify any more. `skips`: a row
   * that another transaction has locked is left alone.
   */
  lock<Row>(
    table: Table<Row>,
    key: Key,
    qualifies: (row: Row) => boolean,
    skips = false,
  ): Awaitable<Row | undefined> {
    const seen = this.read(table, key);
    if (seen === undefined || !qualifies(seen)) return undefined;
    const judged = (): Row | undefined => {
      const row = this.transaction.newest(table, key);
      return row === undefined || (row !== seen && !qualifies(row)) ? undefined : row;
    };
    const locked = this.#locked(`${table.name} ${key}`, skips);
    if (locked instanceof Promise) return locked.then(judged);
    return locked ? judged() : undefined;
  }

  /** Inserts a row under a key that nobody else has. Rejects with DatabaseFailure. */
  async insert<Row>(table: Table<Row>, key: Key, row: Row): Promise<void> {
    await this.#locked(`${table.name} ${key}`, false);
    if (this.transaction.newest(table, key) !== undefined)
      throw new DatabaseFailure(`the server answered 23505 (table ${table.name})`, {
        outcome: 'not-done',
        sqlState: '23505',
      });
    this.transaction.write(table, key, row);
  }

  /** Locks a key, and returns the row that has it in its newest version, whatever the statement sees. */
  async conflict<Row>(table: Table<Row>, key: Key): Promise<Row | undefined> {
    await this.#locked(`${table.name} ${key}`, false);
    return this.transaction.newest(table, key);
  }

  #locked(name: string, skips: boolean): Awaitable<boolean> {
    const { locks, transaction, lockTimeoutMs } = this.needs;
    if (locks.take(transaction, name)) return true;
    return skips ? false : locks.wait(transaction, name, lockTimeoutMs).then(() => true);
  }
}

/** Carries out a statement, and returns its rows. Rejects with DatabaseFailure. */
export type CarryOut = (
  run: StatementRun,
  values: readonly Parameter[],
  text: string,
) => Awaitable<readonly ColumnRow[]>;

/** A part of the text of a statement, and what carries it out. */
export type KnownStatement = readonly [part: string, carryOut: CarryOut];
