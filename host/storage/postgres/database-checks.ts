// DatabaseChecks judge a server to which a connection was made: whether it is the primary, and whether a commit that it confirms is
// on its disk.
import { unusableDatabase } from './database-errors.ts';
import { DatabaseFailure } from './database-failure.ts';
import type { DatabaseSession } from './database-session.ts';

/** The oldest version whose functions the statements use, as server_version_num. */
const VERSION_MIN = 130_000;
/** Values of synchronous_commit with which a commit is confirmed once it is on the disk, of a synchronous standby too. */
const DURABLE = new Set(['on', 'remote_apply']);

const FACTS = `SELECT pg_is_in_recovery(), pg_backend_pid(), current_setting('server_version_num')::integer,
  current_setting('server_encoding'), current_setting('fsync'), current_setting('full_page_writes'),
  current_setting('synchronous_commit'), current_setting('transaction_read_only'),
  current_setting('synchronous_standby_names')`;

/** Settings and state of a server, as it reports them. */
export interface DatabaseFacts {
  readonly isStandby: boolean;
  readonly processId: number;
  readonly version: number;
  readonly encoding: string;
  readonly fsync: string;
  readonly fullPageWrites: string;
  readonly synchronousCommit: string;
  readonly isReadOnly: boolean;
  readonly hasSynchronousStandby: boolean;
}

/** Rejects with DatabaseFailure. */
export async function readFacts(session: DatabaseSession): Promise<DatabaseFacts> {
  const [row] = await session.query({ text: FACTS });
  const [isStandby, processId, version, encoding, fsync, pages, commit, readOnly, names] = row as [
    boolean,
    number,
    number,
    ...string[],
  ];
  return {
    isStandby,
    processId,
    version,
    encoding: encoding!,
    fsync: fsync!,
    fullPageWrites: pages!,
    synchronousCommit: commit!,
    isReadOnly: readOnly === 'on',
    hasSynchronousStandby: names!.trim() !== '',
  };
}

/** Throws DatabaseFailure if another host may be the primary, and SVC_DATABASE_UNUSABLE if the operator has to change something. */
export function checkDatabase(facts: DatabaseFacts, shown: string): void {
  if (facts.isStandby)
    throw new DatabaseFailure('the server is a standby', {
      outcome: 'not-done',
      reason: 'not-primary',
    });
  if (facts.isReadOnly)
    throw new DatabaseFailure('transactions may only read (default_transaction_read_only is on)', {
      outcome: 'not-done',
      sqlState: '25006',
    });
  const problem = problemOf(facts);
  if (problem !== undefined) throw unusableDatabase(shown, ...problem);
}

/** Returns a sentence for the operator of a server that is fit, but keeps each commit on one disk alone; undefined otherwise. */
export function warningOf(
  { hasSynchronousStandby }: DatabaseFacts,
  shown: string,
): string | undefined {
  if (hasSynchronousStandby) return undefined;
  return (
    `The database ${shown} has no synchronous standby (synchronous_standby_names is empty). A 200 means that the events are on the ` +
    'disk of one server: if that server is lost and a standby takes over, events that were acknowledged may be missing.'
  );
}

function problemOf(facts: DatabaseFacts): [problem: string, remedy: string] | undefined {
  const { version, encoding, fsync, fullPageWrites, synchronousCommit } = facts;
  if (version < VERSION_MIN)
    return [
      `it is PostgreSQL ${Math.floor(version / 10_000)}`,
      `Use PostgreSQL ${VERSION_MIN / 10_000} or later.`,
    ];
  if (encoding !== 'UTF8')
    return [
      `its encoding is ${encoding}`,
      'Create a database with ENCODING UTF8 (and TEMPLATE template0), and name it in the URL.',
    ];
  if (fsync !== 'on') return notDurable('fsync', fsync);
  if (fullPageWrites !== 'on') return notDurable('full_page_writes', fullPageWrites);
  if (!DURABLE.has(synchronousCommit)) return notDurable('synchronous_commit', synchronousCommit);
  return undefined;
}

function notDurable(setting: string, value: string): [problem: string, remedy: string] {
  return [
    `${setting} is ${value}, so that a commit may be lost after it was confirmed`,
    `Set ${setting} to on in the configuration of the server, and for its database and role.`,
  ];
}
