// JournalSchemas lists and removes the journals of one database that each have a schema of their own, for a program that keeps several.
//
// Invariants
// - A journal is removed in one transaction: a crash leaves all of it, or nothing.
// - A journal is not removed while a node has a lease. Nodes join under the lock that the removal takes first.
import { SvcError } from '@svc/kit/svc-error';
import { connectDatabase } from './connect-database.ts';
import { databaseError } from './database-errors.ts';
import { DatabaseFailure } from './database-failure.ts';
import type { DatabaseSession } from './database-session.ts';
import type { DatabaseSource } from './database-source.ts';

/** Files of large tables are removed with them. */
const STATEMENT_TIMEOUT_MS = 60_000;

const LIST = {
  text: 'SELECT nspname::text FROM pg_namespace WHERE starts_with(nspname::text, $1) ORDER BY nspname',
};
/** Roles without the rights of a superuser cannot have the reserved connections. */
const CONNECTIONS = {
  text: `SELECT current_setting('max_connections')::int4 - current_setting('superuser_reserved_connections')::int4`,
};
const HAS_JOURNAL = { text: "SELECT to_regclass('svc.cluster') IS NOT NULL" };
/** Statements that read a table keep it from being removed, and later ones wait behind the removal meanwhile. */
const LIMIT_WAITS = { text: "SET LOCAL lock_timeout = '2s'" };
const LOCK = { text: 'SELECT FROM svc.cluster FOR UPDATE' };
const USED = {
  text: 'SELECT machine FROM svc.node WHERE lease_until > clock_timestamp() LIMIT 1',
};
const DROP = { text: 'DROP SCHEMA IF EXISTS svc CASCADE' };

export class JournalSchemas {
  readonly #source: DatabaseSource;
  readonly #prefix: string;

  /** `prefix`: the beginning of the names of the schemas. The schema of `source` does not count. */
  constructor(source: DatabaseSource, prefix: string) {
    this.#source = source;
    this.#prefix = prefix;
  }

  /** Returns the names of the schemas. Rejects as `connectDatabase` does. */
  async list(): Promise<readonly string[]> {
    const rows = await this.#use(undefined, (session) => session.query(LIST, [this.#prefix]));
    return rows.map(([name]) => name as string);
  }

  /** Returns how many connections the server admits in all, of all programs. Rejects as `connectDatabase` does. */
  async connectionsMax(): Promise<number> {
    const [row] = await this.#use(undefined, (session) => session.query(CONNECTIONS));
    return row![0] as number;
  }

  /**
   * Removes a schema with everything in it; without one it does nothing. Rejects with SVC_DATA_IN_USE while a node has a lease of the
   * journal, and as `connectDatabase` does.
   */
  async remove(schema: string): Promise<void> {
    await this.#use(schema, async (session) => {
      await session.query({ text: 'BEGIN' });
      await session.query(LIMIT_WAITS);
      const [found] = await session.query(HAS_JOURNAL);
      if (found![0] === true) await lockUnused(session);
      await session.query(DROP);
      await session.query({ text: 'COMMIT' });
    });
  }

  /** The end of the connection rolls back what is not committed. */
  async #use<T>(
    schema: string | undefined,
    use: (session: DatabaseSession) => Promise<T>,
  ): Promise<T> {
    const source = { ...this.#source, schema };
    const session = await connectDatabase(source, { statementTimeoutMs: STATEMENT_TIMEOUT_MS });
    try {
      return await use(session);
    } catch (error) {
      throw error instanceof DatabaseFailure ? databaseError(error, session.shown) : error;
    } finally {
      await session.close();
    }
  }
}

async function lockUnused(session: DatabaseSession): Promise<void> {
  await session.query(LOCK);
  const [node] = await session.query(USED);
  if (node === undefined) return;
  throw new SvcError(
    'SVC_DATA_IN_USE',
    `The journal in ${session.shown} is used by a runtime on ${String(node[0])}, and was not removed. Stop that runtime first.`,
  );
}
