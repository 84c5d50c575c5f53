// JournalConnection is a value by which a shard attaches to its journal. The thread that has opened the journal makes
// one for each start of a shard; the supervisor sends it to the shard's thread without looking into it. Another
// implementation of the journal adds its connection here: a member of the union and a case of attachJournal.
//
// Invariant: every connection can be posted to another thread together with its `ports`. A connection for a thread that
// has ended meanwhile is discarded, and its ports are closed; any other port closes with the journal at the latest.
import type { Journal } from '../engine/needs/journal.ts';
import type { Leases } from '../engine/needs/leases.ts';
import type { Awaitable } from '@svc/model/call';
import type { ClusterSlices } from './cluster-nodes.ts';
import type { ClusterJournal } from './postgres/attached-postgres.ts';
import { postgresLeases } from './postgres/nodes/node-lease.ts';
import type { PostgresConnection } from './postgres/postgres-connection.ts';
import { attachSqliteJournal } from './sqlite/attached-journal.ts';
import type { SqliteConnection } from './sqlite/sqlite-connection.ts';

export type JournalConnection = SqliteConnection | PostgresConnection;

/**
 * Returns the journal for the thread that calls this. `retentionMs`: how old replies to idempotency keys may be, for journals that look
 * for older ones by themselves. Throws SVC_JOURNAL_CORRUPT or SVC_JOURNAL_UNAVAILABLE.
 */
export function attachJournal(
  connection: JournalConnection,
  retentionMs?: number,
): Awaitable<Journal> {
  switch (connection.kind) {
    case 'sqlite':
      return attachSqliteJournal(connection);
    case 'postgres':
      return attachPostgres(connection, retentionMs);
  }
}

/** Returns the leases of the entities for the thread that attaches; undefined: nobody else can write them. */
export function leasesOf(connection: JournalConnection): Leases | undefined {
  switch (connection.kind) {
    case 'sqlite':
      return undefined;
    case 'postgres':
      return postgresLeases(connection);
  }
}

/** Returns the slices of the cluster for the thread that has attached `journal`; undefined: the journal has one writer. */
export function clusterOf(
  connection: JournalConnection,
  journal: Journal,
): ClusterSlices | undefined {
  switch (connection.kind) {
    case 'sqlite':
      return undefined;
    case 'postgres':
      return (journal as ClusterJournal).cluster;
  }
}

/** Services with a folder do not load this code. */
async function attachPostgres(
  connection: PostgresConnection,
  retentionMs: number | undefined,
): Promise<Journal> {
  const { attachPostgresJournal } = await import('./postgres/attached-postgres.ts');
  return attachPostgresJournal(connection, retentionMs);
}
