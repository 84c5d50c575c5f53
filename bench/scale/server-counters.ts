// ServerCounters: what a PostgreSQL server has counted of the statements that others send to a database.
import type { PostgresServer } from '../../test/support/postgres/postgres-server.ts';

/** The module that counts statements has to be loaded when the server starts. */
export const STATEMENT_COUNTING = { shared_preload_libraries: 'pg_stat_statements' };

export interface StatementCounts {
  /** Statements that store a group of appends. */
  readonly appends: number;
  /** All statements, those that renew leases and begin or end transactions included. */
  readonly all: number;
}

/** Makes the counts visible. */
export async function showStatementCounts(server: PostgresServer): Promise<void> {
  await server.sql('CREATE EXTENSION pg_stat_statements');
}

/** Returns the statements that the role of fresh databases has sent to a database so far. */
export async function statementCounts(
  server: PostgresServer,
  database: string,
): Promise<StatementCounts> {
  const [row] = await server.sql(
    `SELECT coalesce(sum(calls), 0)::float8 AS all,
        coalesce(sum(calls) FILTER (WHERE query LIKE '%INSERT INTO svc.journal%'), 0)::float8 AS appends
      FROM pg_stat_statements
      WHERE userid <> current_user::regrole AND dbid = (SELECT oid FROM pg_database WHERE datname = $1)`,
    [database],
  );
  return row as unknown as StatementCounts;
}

/** Returns how many bytes the write-ahead log of the server has had so far. */
export async function loggedBytes(server: PostgresServer): Promise<number> {
  const [row] = await server.sql(
    `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS bytes`,
  );
  return row!['bytes'] as number;
}
