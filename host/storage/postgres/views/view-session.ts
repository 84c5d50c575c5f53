// ViewSession is a connection for the rows of views. Statements that are planned by PostgreSQL walk the indexes that they name in
// their order, whatever the statistics say: a table that has just been filled has none.
import { DatabaseFailure } from '../database-failure.ts';
import type { DatabaseSession, Parameter, Row } from '../database-session.ts';

/** Settings of a connection and their values. */
export type SessionSettings = Readonly<Record<string, string>>;

/**
 * The only path to the rows that is left for a statement is the index that has their order, so that a prepared statement is planned
 * once. The costs of other paths are so high that compiling a statement would seem worth it.
 */
const PLANNING: SessionSettings = {
  enable_seqscan: 'off',
  enable_sort: 'off',
  enable_incremental_sort: 'off',
  enable_bitmapscan: 'off',
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
};
/** Number of prepared statements after which the connection is replaced. A view has a few for each query. */
const STATEMENTS_MAX = 1_000;
/**
 * Age after which the connection is replaced, in milliseconds: a server that was the primary may still be reached by it after another one was
 * promoted, and its rows stay as they were.
 */
const AGE_MS_MAX = 60_000;

export class ViewSession {
  readonly #session: DatabaseSession;
  /** Names of prepared statements, indexed by their texts. */
  readonly #names = new Map<string, string>();
  readonly #openedMs = performance.now();

  private constructor(session: DatabaseSession) {
    this.#session = session;
  }

  /** Closes the connection if it cannot be set up. Rejects with DatabaseFailure. */
  static async open(session: DatabaseSession, settings: SessionSettings): Promise<ViewSession> {
    const values = Object.entries({ ...PLANNING, ...settings }).flat();
    const calls = values.flatMap((_, at) =>
      at % 2 === 0 ? `set_config($${at + 1}, $${at + 2}, false)` : [],
    );
    try {
      await session.query({ text: `SELECT ${calls.join(', ')}` }, values);
      return new ViewSession(session);
    } catch (error) {
      session.abort();
      throw error;
    }
  }

  /** Resolves once the connection is lost, or closed. */
  get ended(): Promise<void> {
    return this.#session.ended;
  }

  /** Whether another connection should be used: this one has prepared many statements, or is old. */
  get isWorn(): boolean {
    const isOld = performance.now() - this.#openedMs >= AGE_MS_MAX;
    return isOld || this.#names.size >= STATEMENTS_MAX;
  }

  /** Carries out a statement that is used often, which is prepared. Rejects with DatabaseFailure. */
  query(text: string, values: readonly Parameter[]): Promise<readonly Row[]> {
    let name = this.#names.get(text);
    if (name === undefined) {
      name = `view_${this.#names.size}`;
      this.#names.set(text, name);
    }
    return this.#session.query({ name, text }, values);
  }

  /** Carries out a statement that is used seldom. Rejects with DatabaseFailure. */
  execute(text: string, values: readonly Parameter[] = []): Promise<readonly Row[]> {
    return this.#session.query({ text }, values);
  }

  /** Carries out `work` in a transaction, which is rolled back if `work` rejects. `settings` hold until it ends. */
  async transaction<T>(work: () => Promise<T>, settings: SessionSettings = {}): Promise<T> {
    await this.execute('BEGIN');
    let result: T;
    try {
      for (const [name, value] of Object.entries(settings))
        await this.execute('SELECT set_config($1, $2, true)', [name, value]);
      result = await work();
    } catch (error) {
      // A connection that cannot even roll back is of no use.
      await this.execute('ROLLBACK').catch(() => this.#session.abort());
      throw error;
    }
    await this.execute('COMMIT');
    return result;
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  abort(): void {
    this.#session.abort();
  }
}

/** Whether the lock of a table was not free within the time that the transaction waits for locks. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof DatabaseFailure && error.sqlState === '55P03';
}

/** Whether a table, a column or a name that the statement has is not there. */
export function isMissing(error: unknown): boolean {
  return error instanceof DatabaseFailure && /^42(?:P01|703|704)$/.test(error.sqlState ?? '');
}
