// DatabaseFailure is why a connection was not made, or a statement was not answered as it should have been. It says whether the
// statement may have been carried out nevertheless, because whoever answers a command must know.
//
// Invariant: neither its message nor anything else of it holds a password, a user, or the text of a row. That is why it has no cause:
// errors of the server quote rows in their details.

/**
 * Why it failed:
 * - `answered`: the server answered with an error, whose SQLSTATE is known.
 * - `lost`: the connection ended, or its end was asked for.
 * - `unreachable`: no connection could be made: name, address, port, or time.
 * - `tls`: the server could not be verified, or does not speak TLS.
 * - `foreign`: the server is not PostgreSQL.
 * - `not-primary`: the server is a standby.
 */
export type FailureReason = 'answered' | 'lost' | 'unreachable' | 'tls' | 'foreign' | 'not-primary';

export interface DatabaseFailureOptions {
  /** `not-done`: nothing of the statement is stored. `unknown`: all of it may be, or nothing. */
  readonly outcome: 'not-done' | 'unknown';
  /** The SQLSTATE of the server; undefined: the connection failed. */
  readonly sqlState?: string | undefined;
  /** Default: `answered` with an SQLSTATE, otherwise `lost`. */
  readonly reason?: FailureReason;
}

/** A serialization failure or a deadlock: the same statement may succeed when it is repeated. */
const RETRYABLE = new Set(['40001', '40P01']);
/** Classes of SQLSTATE: data exceptions, violated constraints, program limits. */
const OF_CONTENT = new Set(['22', '23', '54']);

export class DatabaseFailure extends Error {
  readonly outcome: 'not-done' | 'unknown';
  readonly sqlState: string | undefined;
  readonly reason: FailureReason;

  /** `message`: a clause that says what happened, such as `the connection was closed`. */
  constructor(message: string, { outcome, sqlState, reason }: DatabaseFailureOptions) {
    super(message);
    this.name = 'DatabaseFailure';
    this.outcome = outcome;
    this.sqlState = sqlState;
    this.reason = reason ?? (sqlState === undefined ? 'lost' : 'answered');
  }

  /** Whether nothing is stored, and the same statement may succeed when it is repeated. */
  get isRetryable(): boolean {
    return this.outcome === 'not-done' && RETRYABLE.has(this.sqlState ?? '');
  }

  /** Whether the server refuses the values of a statement, so that another statement with other values may succeed. */
  get isOfContent(): boolean {
    return this.outcome === 'not-done' && OF_CONTENT.has((this.sqlState ?? '').slice(0, 2));
  }
}
