// DatabaseErrors turn failures of a database into SvcErrors, which say what happened, where, and what to do. They are of two kinds:
// those that pass by themselves or with the server's recovery, and those after which the operator has to change something.
import { SvcError, type SvcErrorCode } from '@svc/kit/svc-error';
import type { DatabaseFailure } from './database-failure.ts';

/** Another attempt makes sense after this time. */
const RETRY_AFTER_MS = 1_000;

interface Verdict {
  readonly code: SvcErrorCode;
  /** A sentence that says what to do. */
  readonly remedy: string;
}

const unavailable = (remedy: string): Verdict => ({ code: 'SVC_JOURNAL_UNAVAILABLE', remedy });
const unusable = (remedy: string): Verdict => ({ code: 'SVC_DATABASE_UNUSABLE', remedy });
const damaged = (remedy: string): Verdict => ({ code: 'SVC_JOURNAL_CORRUPT', remedy });

const BY_ITSELF = 'the service tries again by itself';
const UNREACHABLE = unavailable(`Check that the server runs and can be reached; ${BY_ITSELF}.`);
const NO_ENTRY = unusable(
  'Check user, password and client certificate in the URL, and pg_hba.conf of the server.',
);
const NO_RIGHTS = unusable(
  'As its owner, execute GRANT CREATE ON DATABASE for the role in the URL; if the schema exists (svc, unless this message names another one), make that role its owner.',
);
const DAMAGED = damaged('Restore the database from a backup.');
const NOT_THE_TABLES = damaged(
  'Tables of the schema (svc, unless this message names another one) were changed or removed. Restore the database from a backup.',
);
const POOLER = unusable(
  'Connect to the server itself, or let the pooler keep a session for each connection (pool_mode = session).',
);

const BY_STATE: Readonly<Record<string, Verdict>> = {
  '25006': unavailable(
    `The server is a standby, or closed to writers; ${BY_ITSELF} with each host of the URL.`,
  ),
  '26000': POOLER,
  '28000': NO_ENTRY,
  '28P01': NO_ENTRY,
  '3D000': unusable('Create the database, or correct its name in the URL.'),
  '3F000': NOT_THE_TABLES,
  '42501': NO_RIGHTS,
  '42703': NOT_THE_TABLES,
  '42P01': NOT_THE_TABLES,
  '42P05': POOLER,
  '53100': { code: 'SVC_DISK_FULL', remedy: `Make room on the disk of the server; ${BY_ITSELF}.` },
  '53200': unavailable(`Give the server more memory; ${BY_ITSELF}.`),
  '53300': unavailable(
    `Raise max_connections of the server, or run fewer shards or instances; ${BY_ITSELF}.`,
  ),
  '57P01': UNREACHABLE,
  '57P02': UNREACHABLE,
  '57P03': unavailable(`The server is starting or stopping; ${BY_ITSELF}.`),
  '58030': unavailable(`Check the disk of the server; ${BY_ITSELF}.`),
  XX001: DAMAGED,
  XX002: DAMAGED,
};

const BY_REASON: Readonly<Record<DatabaseFailure['reason'], Verdict>> = {
  answered: unavailable(`The log of the server has details; ${BY_ITSELF}.`),
  lost: UNREACHABLE,
  unreachable: UNREACHABLE,
  tls: unusable(
    'Check sslrootcert in the URL, and the certificate of the server and its host name.',
  ),
  foreign: unusable('Correct host and port in the URL.'),
  'not-primary': unavailable(`Name the primary in the URL as well; ${BY_ITSELF}.`),
};

/** A host of a URL, and why it could not be used. */
export interface HostFailure {
  readonly host: string;
  readonly failure: DatabaseFailure;
}

/** Returns the error for a failure. `shown`: `postgresql://host:port/database`. */
export function databaseError(failure: DatabaseFailure, shown: string): SvcError {
  return errorOf(verdictOn(failure), failure.message, shown, failure);
}

/** Returns the error for a database of which no host could be used. It passes by itself if that of one host does. */
export function hostsError(failures: readonly HostFailure[], shown: string): SvcError {
  const [first] = failures;
  if (failures.length === 1) return databaseError(first!.failure, shown);
  const judged = failures.map(({ failure }) => verdictOn(failure));
  const verdict = judged.find(({ code }) => code === 'SVC_JOURNAL_UNAVAILABLE') ?? judged[0]!;
  const clauses = failures.map(({ host, failure }) => `${host}: ${failure.message}`).join('; ');
  return errorOf(verdict, clauses, shown, first!.failure);
}

/** `problem`: a clause. `remedy`: a sentence that says what the operator has to change. */
export function unusableDatabase(shown: string, problem: string, remedy: string): SvcError {
  return errorOf(unusable(remedy), problem, shown);
}

/** The connection is one of a pooler that gives its statements to several sessions. */
export function sharedSessions(shown: string): SvcError {
  return errorOf(POOLER, 'a pooler gives each transaction another session', shown);
}

function verdictOn({ sqlState, reason }: DatabaseFailure): Verdict {
  return (sqlState === undefined ? undefined : BY_STATE[sqlState]) ?? BY_REASON[reason];
}

function errorOf(
  { code, remedy }: Verdict,
  clauses: string,
  shown: string,
  cause?: unknown,
): SvcError {
  const isPassing = code === 'SVC_JOURNAL_UNAVAILABLE' || code === 'SVC_DISK_FULL';
  return new SvcError(
    code,
    `The database ${shown} ${isPassing ? 'is not available' : 'cannot be used'}: ${clauses}. ${remedy}`,
    { cause, ...(isPassing ? { retryAfterMs: RETRY_AFTER_MS } : {}) },
  );
}
