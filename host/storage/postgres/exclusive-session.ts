// ExclusiveSession lets several tasks use one connection, one after the other: each has it alone, with its transactions.
import { DatabaseFailure } from './database-failure.ts';
import type { DatabaseSession } from './database-session.ts';
import type { FollowingSession } from './following-session.ts';

export class ExclusiveSession {
  readonly #session: FollowingSession;
  #last: Promise<unknown> = Promise.resolve();

  /** `session`: a connection that nobody else uses. */
  constructor(session: FollowingSession) {
    this.#session = session;
  }

  /** Calls a function with the connection, after the calls before. Rejects as the function does, and as connecting does. */
  use<T>(use: (session: DatabaseSession) => Promise<T>): Promise<T> {
    const used = this.#last.then(() => this.#use(use));
    this.#last = used.catch(() => undefined);
    return used;
  }

  /** Waits for the calls that were made, and closes the connection. */
  async close(): Promise<void> {
    await this.#last;
    this.#session.close();
  }

  async #use<T>(use: (session: DatabaseSession) => Promise<T>): Promise<T> {
    const session = await this.#session.session();
    try {
      return await use(session);
    } catch (error) {
      // Nobody knows in which state the connection is.
      if (error instanceof DatabaseFailure && error.outcome === 'unknown')
        this.#session.drop(session);
      throw error;
    }
  }
}
