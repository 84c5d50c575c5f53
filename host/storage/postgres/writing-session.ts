// WritingSession is the connection by which one user of the journal writes, together with its claims. Whoever wants to read or
// write asks for a session that is ready: connected, and with valid claims of all slices of the user that the node owns. Slices of
// other nodes keep nobody waiting.
//
// Invariants
// - After a connection was lost, the slices that the node still owns are claimed before anything else is done, so what was sent to
//   them over the lost connection has its final outcome by then.
// - Nothing is claimed while a group is sent, which may be a transaction of several statements.
// - A journal whose database has gone back is never used again: every later call fails with the same failure.
import { setTimeout as delay } from 'node:timers/promises';
import type { MonotonicClock } from '../../engine/needs/clock.ts';
import { SvcError } from '@svc/kit/svc-error';
import { DatabaseFailure } from './database-failure.ts';
import type { DatabaseSession } from './database-session.ts';
import { journalFailure } from './journal-failure.ts';
import type { SliceClaims, SliceHead } from './slice-claims.ts';

export interface WritingSessionNeeds {
  /** Makes a connection. Rejects with SvcError. */
  readonly connect: () => Promise<DatabaseSession>;
  readonly claims: SliceClaims;
  readonly clock: MonotonicClock;
  /** Name of the database in messages. */
  readonly shown: string;
  /** Called with the heads of slices that were claimed. */
  readonly onClaimed: (heads: readonly SliceHead[]) => void;
  /** Called once if the journal cannot be used any more, although nobody has closed it. */
  readonly onEnded: (failure: SvcError) => void;
}

/** The pause between an attempt to connect that has failed and the next one, in milliseconds. */
const PAUSE_MS = 200;
/** For so long a caller waits for an attempt, in milliseconds. */
const WAIT_MS = 5_000;
/** A statement that waits longer for an earlier write ends by itself, so that no number of them can wait in the database. */
const LIMIT_WAITS = { text: `SET lock_timeout = '8s'` };

export class WritingSession {
  readonly #needs: WritingSessionNeeds;
  #session: DatabaseSession | undefined = undefined;
  /** The connection that is being made, or the claims that are. */
  #attaching: Promise<DatabaseSession> | undefined = undefined;
  /** Settles once the group that is sent is answered. */
  #sending: Promise<unknown> | undefined = undefined;
  /** Why this journal is not used any more. */
  #end: SvcError | undefined = undefined;
  #failedMs = -Infinity;

  constructor(needs: WritingSessionNeeds) {
    this.#needs = needs;
  }

  /** Whether the journal is not used any more. */
  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  /**
   * Returns the connection once the claims are valid. Rejects with SvcError if the next attempt to connect or to claim fails, or does
   * not end within `waitMs`: nothing was sent. An attempt that lasts longer goes on.
   */
  ready(waitMs = WAIT_MS): Promise<DatabaseSession> {
    if (this.#end !== undefined) return Promise.reject(this.#end);
    if (this.#session !== undefined && this.#isReady(this.#session))
      return Promise.resolve(this.#session);
    this.#attaching ??= this.#attach().finally(() => {
      this.#attaching = undefined;
    });
    return this.#within(waitMs, this.#attaching);
  }

  /**
   * Sends a group with the connection once it is ready: all claims are valid when `send` is called, and none is made until it has
   * settled. Called again only after that. Rejects as `ready` and `send` do.
   */
  async alone<T>(send: (session: DatabaseSession) => Promise<T>): Promise<T> {
    let session = await this.ready();
    // Meanwhile slices may have been acquired.
    while (!this.#isReady(session)) session = await this.ready();
    const sending = send(session);
    this.#sending = sending.catch(() => undefined);
    try {
      return await sending;
    } finally {
      this.#sending = undefined;
    }
  }

  #isReady(session: DatabaseSession): boolean {
    return (
      this.#session === session && this.#attaching === undefined && this.#needs.claims.areCurrent
    );
  }

  async #within(waitMs: number, attaching: Promise<DatabaseSession>): Promise<DatabaseSession> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(notReady(this.#needs.shown, waitMs)), waitMs);
    try {
      return await Promise.race([attaching, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the use of the connection: it is lost, or nobody knows what has become of a statement. */
  drop(session: DatabaseSession): void {
    if (this.#session === session) {
      this.#session = undefined;
      this.#needs.claims.invalidate();
    }
    session.abort();
  }

  /** Ends the use of the journal. */
  end(failure: SvcError): void {
    if (this.#end === undefined) this.#needs.onEnded(failure);
    this.#end ??= failure;
    this.#session?.abort();
    this.#session = undefined;
  }

  /** Closes the connection once its statements are answered. */
  async close(failure: SvcError): Promise<void> {
    this.#end ??= failure;
    await this.#attaching?.catch(() => undefined);
    const session = this.#session;
    this.#session = undefined;
    await session?.close();
  }

  async #attach(): Promise<DatabaseSession> {
    const { clock, shown } = this.#needs;
    const pauseMs = this.#failedMs + PAUSE_MS - clock.monotonicMs();
    if (pauseMs > 0) await delay(pauseMs);
    await this.#sending;
    if (this.#end !== undefined) throw this.#end;
    try {
      const session = this.#session ?? (await this.#connect());
      await this.#claim(session);
      return session;
    } catch (error) {
      this.#failedMs = clock.monotonicMs();
      throw journalFailure(error, shown);
    }
  }

  async #connect(): Promise<DatabaseSession> {
    const session = await this.#needs.connect();
    if (this.#end !== undefined) {
      session.abort();
      throw this.#end;
    }
    this.#session = session;
    void session.ended.then(() => this.drop(session));
    return session;
  }

  async #claim(session: DatabaseSession): Promise<void> {
    const { claims, onClaimed } = this.#needs;
    try {
      await session.query(LIMIT_WAITS);
      onClaimed(await claims.claim(session));
    } catch (error) {
      this.drop(session);
      if (error instanceof SvcError) this.end(error);
      throw error;
    }
    if (this.#session !== session) throw this.#end ?? connectionLost();
  }
}

function connectionLost(): DatabaseFailure {
  return new DatabaseFailure('the connection was lost', { outcome: 'not-done', reason: 'lost' });
}

function notReady(shown: string, waitMs: number): SvcError {
  return new SvcError(
    'SVC_JOURNAL_UNAVAILABLE',
    `The database ${shown} has not let this runtime use its journal within ${waitMs / 1_000} s: it does not answer, or an earlier ` +
      'write has not ended there. Look at the server; the service tries again by itself.',
  );
}
