// WritingSession is the connection by which one user of the journal writes, together with its claims. Whoever wants to read or
// write asks for a session that is ready: connected, and with claims that are valid.
//
// Invariants
// - After a connection was lost, the slices are claimed before anything else is done with them, so what was sent over the lost
//   connection has its final outcome by then.
// - A journal that another node has taken over, or whose database has gone back, is never used again: every later call fails with
//   the same failure.
import { setTimeout as delay } from 'node:timers/promises';
import type { MonotonicClock } from '../../engine/needs/clock.ts';
import { SvcError } from '@svc/kit/svc-error';
import type { DatabaseSession } from './database-session.ts';
import { journalFailure } from './journal-failure.ts';
import type { SliceClaims } from './slice-claims.ts';

export interface WritingSessionNeeds {
  /** Makes a connection. Rejects with SvcError. */
  readonly connect: () => Promise<DatabaseSession>;
  readonly claims: SliceClaims;
  readonly clock: MonotonicClock;
  /** Name of the database in messages. */
  readonly shown: string;
  /** Called once all slices are claimed. */
  readonly onClaimed: () => void;
  /** Called once if the journal cannot be used any more, although nobody has closed it. */
  readonly onEnded: (failure: SvcError) => void;
}

/** The pause between an attempt to connect that has failed and the next one, in milliseconds. */
const PAUSE_MS = 200;
/** For so long a caller waits for an attempt, in milliseconds. */
const WAIT_MS = 5_000;

export class WritingSession {
  readonly #needs: WritingSessionNeeds;
  #session: DatabaseSession | undefined = undefined;
  #attaching: Promise<DatabaseSession> | undefined = undefined;
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
   * Returns the connection once the claims are valid. Rejects with SvcError if the next attempt to connect fails, or does not end
   * within `waitMs`: nothing was sent. An attempt that lasts longer goes on.
   */
  ready(waitMs = WAIT_MS): Promise<DatabaseSession> {
    if (this.#end !== undefined) return Promise.reject(this.#end);
    if (this.#session !== undefined) return Promise.resolve(this.#session);
    this.#attaching ??= this.#attach().finally(() => {
      this.#attaching = undefined;
    });
    return this.#within(waitMs, this.#attaching);
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
    if (this.#session === session) this.#session = undefined;
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
    const { connect, claims, clock, shown, onClaimed } = this.#needs;
    const pauseMs = this.#failedMs + PAUSE_MS - clock.monotonicMs();
    if (pauseMs > 0) await delay(pauseMs);
    if (this.#end !== undefined) throw this.#end;
    let session: DatabaseSession | undefined = undefined;
    try {
      session = await connect();
      await claims.claim(session);
    } catch (error) {
      session?.abort();
      const failure = journalFailure(error, shown);
      if (error instanceof SvcError && session !== undefined) this.end(error);
      this.#failedMs = clock.monotonicMs();
      throw failure;
    }
    if (this.#end !== undefined) {
      session.abort();
      throw this.#end;
    }
    const attached = session;
    this.#session = attached;
    void attached.ended.then(() => this.drop(attached));
    onClaimed();
    return attached;
  }
}

function notReady(shown: string, waitMs: number): SvcError {
  return new SvcError(
    'SVC_JOURNAL_UNAVAILABLE',
    `The database ${shown} has not let this runtime use its journal within ${waitMs / 1_000} s: it does not answer, or an earlier ` +
      'write has not ended there. Look at the server; the service tries again by itself.',
  );
}
