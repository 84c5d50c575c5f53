// ExclusiveSession lets several tasks use one connection, one after the other: each has it alone, with its transactions.
import { DatabaseFailure } from './database-failure.ts';
import type { DatabaseSession } from './database-session.ts';
import type { FollowingSession } from './following-session.ts';
import { WorkQueue } from './work-queue.ts';

export class ExclusiveSession {
  readonly #session: FollowingSession;
  readonly #uses = new WorkQueue();

  /** `session`: a connection that nobody else uses. */
  constructor(session: FollowingSession) {
    this.#session = session;
  }

  /** Calls a function with the connection, after the calls before. Rejects as the function does, and as connecting does. */
  use<T>(use: (session: DatabaseSession) => Promise<T>): Promise<T> {
    return this.#uses.add(() => this.#use(use));
  }

  /** Waits for the calls that were made, and closes the connection. */
  async close(): Promise<void> {
    await this.#uses.idle();
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
