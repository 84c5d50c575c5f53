// ConnectDatabase makes connections to the database of a journal: to the first of the hosts in its URL that is the primary.
import { DatabaseFailure } from './database-failure.ts';
import { checkDatabase, readFacts, warningOf } from './database-checks.ts';
import { hostsError, sharedSessions, type HostFailure } from './database-errors.ts';
import type { DatabaseSession } from './database-session.ts';
import { readDatabaseUrl, type DatabaseSource } from './database-source.ts';
import { shownHost, type DatabaseHost, type DatabaseUrl } from './database-url.ts';
import { sharesSessions } from './pooler-check.ts';
import { PostgresSession } from './postgres-session.ts';
import { SchemaSession, shownInSchema } from './schema-session.ts';
import { readTlsFiles, type TlsOptions } from './tls-files.ts';

export interface ConnectOptions {
  /**
   * The server cancels a statement that takes longer, and the statement was not done. Default: none. It ends no commit that waits
   * for a standby.
   */
  readonly statementTimeoutMs?: number;
  /** The server ends the connection when a transaction waits so long for its next statement: it may hold locks. Default: 5 s. */
  readonly idleInTransactionMs?: number;
  /** Ends the attempt to connect when it is aborted; the connection stays if it is made before. */
  readonly signal?: AbortSignal;
  /** Receives what an operator should know of a database that can be used, as a sentence. */
  readonly warn?: (message: string) => void;
}

const IDLE_IN_TRANSACTION_MS = 5_000;
/** Time for the second connection through a pooler. */
const POOLER_MS = 1_000;

/**
 * Connects to the primary. Rejects with SVC_DATABASE_URL_INVALID and SVC_DATABASE_UNUSABLE if the operator has to change something,
 * and with SVC_JOURNAL_UNAVAILABLE or SVC_DISK_FULL if a later attempt may succeed.
 */
export async function connectDatabase(
  source: DatabaseSource,
  options: ConnectOptions = {},
): Promise<DatabaseSession> {
  const url = await readDatabaseUrl(source);
  const tls = await readTlsFiles(url.tls);
  const { schema } = source;
  const failures: HostFailure[] = [];
  for (const host of url.hosts) {
    try {
      const session = await connectHost(url, host, tls, options);
      return schema === undefined ? session : new SchemaSession(session, schema);
    } catch (failure) {
      if (!(failure instanceof DatabaseFailure)) throw failure;
      failures.push({ host: shownHost(host), failure });
    }
  }
  throw hostsError(failures, shownInSchema(url.shown, schema));
}

function connectHost(
  url: DatabaseUrl,
  host: DatabaseHost,
  tls: TlsOptions | undefined,
  options: ConnectOptions,
): Promise<DatabaseSession> {
  const prepare = async (session: PostgresSession): Promise<void> => {
    const facts = await readFacts(session);
    checkDatabase(facts, url.shown);
    const openAnother = () =>
      PostgresSession.open({ ...url, connectTimeoutMs: POOLER_MS }, host, tls, async (other) => {
        await other.query({ text: 'SELECT 1' });
      });
    if (await sharesSessions(session, facts.processId, openAnother))
      throw sharedSessions(url.shown);
    await configure(session, facts.synchronousCommit, options);
    const warning = warningOf(facts, url.shown);
    if (warning !== undefined) options.warn?.(warning);
  };
  return PostgresSession.open(url, host, tls, prepare, options.signal);
}

/** Settings of the session, whatever server, database and role have as theirs. */
async function configure(
  session: DatabaseSession,
  synchronousCommit: string,
  { statementTimeoutMs = 0, idleInTransactionMs = IDLE_IN_TRANSACTION_MS }: ConnectOptions,
): Promise<void> {
  const settings = {
    // A server whose configuration is weakened later still confirms commits of this session as it did.
    synchronous_commit: synchronousCommit,
    default_transaction_isolation: 'read committed',
    // Statements name their schema.
    search_path: 'pg_catalog, pg_temp',
    client_encoding: 'UTF8',
    standard_conforming_strings: 'on',
    bytea_output: 'hex',
    DateStyle: 'ISO, YMD',
    TimeZone: 'UTC',
    extra_float_digits: '1',
    // A prepared statement keeps the plan that it got while a table was small. Such a plan must not read all of the table.
    enable_seqscan: 'off',
    enable_bitmapscan: 'off',
    // Times of statements are short, and compiling them takes longer.
    jit: 'off',
    lock_timeout: '0',
    statement_timeout: String(statementTimeoutMs),
    idle_in_transaction_session_timeout: String(idleInTransactionMs),
    // A client that has vanished holds its locks no longer than this. Unix sockets ignore it.
    tcp_keepalives_idle: '5',
    tcp_keepalives_interval: '1',
    tcp_keepalives_count: '5',
    tcp_user_timeout: '10000',
  };
  const calls = Object.keys(settings).map(
    (name, index) => `set_config('${name}', $${index + 1}, false)`,
  );
  await session.query({ text: `SELECT ${calls.join(', ')}` }, Object.values(settings));
}
