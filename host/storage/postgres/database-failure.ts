// DatabaseFailure is why a statement was not answered as it should have been. It says whether the statement may have been
// carried out nevertheless, because whoever answers a command must know.
//
// Invariant: its message holds no secret, and no text of a row.

export interface DatabaseFailureOptions {
  /** `not-done`: nothing of the statement is stored. `unknown`: all of it may be, or nothing. */
  readonly outcome: 'not-done' | 'unknown';
  /** The SQLSTATE of the server; undefined: the connection failed. */
  readonly sqlState?: string | undefined;
  readonly cause?: unknown;
}

/** A serialization failure or a deadlock: the same statement may succeed when it is repeated. */
const RETRYABLE = new Set(['40001', '40P01']);

/** Classes of SQLSTATE: data exceptions, violated constraints, program limits. */
const OF_CONTENT = new Set(['22', '23', '54']);

export class DatabaseFailure extends Error {
  readonly outcome: 'not-done' | 'unknown';
  readonly sqlState: string | undefined;

  /** `message`: a clause that says what happened, such as `the connection was closed`. */
  constructor(message: string, { outcome, sqlState, cause }: DatabaseFailureOptions) {
    super(message, cause === undefined ? {} : { cause });
    this.name = 'DatabaseFailure';
    this.outcome = outcome;
    this.sqlState = sqlState;
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
