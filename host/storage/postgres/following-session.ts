// FollowingSession is the connection by which a thread follows a journal: it reads, and settles what consumers have handled. The
// connection is made with the first statement, and again with the next one after it was lost or has become old.
//
// Invariant: at most one connection is used or being made. An old one closes once the statements that were sent are answered.
import type { MonotonicClock } from '../../engine/needs/clock.ts';
import { SvcError } from '@svc/kit/svc-error';
import { DatabaseFailure } from './database-failure.ts';
import type { DatabaseSession, Parameter, Row, Statement } from './database-session.ts';
import { journalFailure } from './journal-failure.ts';

/** For so long after an attempt to connect has failed, the next one is not made, in milliseconds. */
const PAUSE_MS = 200;

export interface FollowingSessionNeeds {
  /** Makes a connection. Rejects with SvcError or DatabaseFailure. */
  readonly connect: () => Promise<DatabaseSession>;
  /** Name of the database in messages. */
  readonly shown: string;
  readonly clock: MonotonicClock;
  /**
   * Age after which the connection is replaced, in milliseconds: a server that was the primary may still be reached by it after another one
   * was promoted. Default: none.
   */
  readonly ageMsMax?: number;
}

export class FollowingSession {
  readonly #needs: FollowingSessionNeeds;
  #session: Promise<DatabaseSession> | undefined;
  /** The connection of `#session`, once it is made. */
  #current: DatabaseSession | undefined;
  #connectedMs = -Infinity;
  #failure: SvcError | undefined;
  #failedMs = -Infinity;
  #isClosed = false;

  constructor(needs: FollowingSessionNeeds) {
    this.#needs = needs;
  }

  /** Name of the database in messages. */
  get shown(): string {
    return this.#needs.shown;
  }

  /** Returns the rows of a statement that changes nothing, or that may be carried out twice. Rejects with SvcError. */
  async query(statement: Statement, values: readonly Parameter[]): Promise<readonly Row[]> {
    const session = await this.session();
    try {
      return await session.query(statement, values);
    } catch (error) {
      // The connection may have been lost long ago. A read is repeated once, on another one.
      const isLost =
        error instanceof DatabaseFailure &&
        (error.outcome === 'unknown' || error.reason === 'lost');
      if (!isLost || this.#isClosed) throw this.failure(error);
    }
    this.drop(session);
    try {
      return await (await this.session()).query(statement, values);
    } catch (error) {
      throw this.failure(error);
    }
  }

  /** Returns the connection. Rejects with SvcError. */
  session(): Promise<DatabaseSession> {
    if (this.#isClosed) return Promise.reject(closed());
    this.#closeOld();
    if (this.#session !== undefined) return this.#session;
    const isPausing = this.#needs.clock.monotonicMs() - this.#failedMs < PAUSE_MS;
    if (this.#failure !== undefined && isPausing) return Promise.reject(this.#failure);
    const connecting = this.#connect().catch((error: unknown) => {
      this.#session = undefined;
      this.#failure = this.failure(error);
      this.#failedMs = this.#needs.clock.monotonicMs();
      throw this.#failure;
    });
    this.#session = connecting;
    return connecting;
  }

  /** Ends the use of a connection: it is lost, or nobody knows what has become of a statement. */
  drop(session: DatabaseSession): void {
    session.abort();
    if (this.#current === session) this.#session = this.#current = undefined;
  }

  /** Returns why a statement has failed, as an error of the journal. */
  failure(error: unknown): SvcError {
    return this.#isClosed ? closed() : journalFailure(error, this.#needs.shown);
  }

  /** Closes the connection at once. Statements under way fail. */
  close(): void {
    this.#isClosed = true;
    void this.#session?.then(
      (session) => session.abort(),
      () => undefined,
    );
  }

  #closeOld(): void {
    const { ageMsMax = Infinity, clock } = this.#needs;
    if (this.#current === undefined || clock.monotonicMs() - this.#connectedMs < ageMsMax) return;
    void this.#current.close();
    this.#session = this.#current = undefined;
  }

  async #connect(): Promise<DatabaseSession> {
    const session = await this.#needs.connect();
    this.#failure = undefined;
    this.#current = session;
    this.#connectedMs = this.#needs.clock.monotonicMs();
    void session.ended.then(() => this.drop(session));
    return session;
  }
}

function closed(): SvcError {
  return new SvcError('SVC_JOURNAL_UNAVAILABLE', 'The journal is closed. Open it again.');
}
