// NodeConnection is a connection by which the thread that keeps the membership uses the database. It is made with the first use, and
// again with the next one after it was lost.
//
// Invariant: a use of a connection that takes longer than a lease has failed, and the connection is closed.
import type { DatabaseSession } from '../database-session.ts';
import { journalFailure } from '../journal-failure.ts';
import { WorkQueue } from '../work-queue.ts';
import { LEASE_MS } from './node-lease.ts';

export interface NodeConnectionNeeds {
  /** Makes a connection. Rejects with SvcError. */
  readonly connect: () => Promise<DatabaseSession>;
  /** Uses each connection before others do. Rejects with DatabaseFailure. */
  readonly prepare?: (session: DatabaseSession) => Promise<void>;
  /** Name of the database in messages. */
  readonly shown: string;
}

export class NodeConnection {
  readonly #needs: NodeConnectionNeeds;
  readonly #uses = new WorkQueue();
  #session: DatabaseSession | undefined;

  constructor(needs: NodeConnectionNeeds) {
    this.#needs = needs;
  }

  /** Calls a function with the connection, after the calls before. Rejects with SvcError. */
  use<T>(use: (session: DatabaseSession) => Promise<T>): Promise<T> {
    return this.#uses.add(() => this.#use(use));
  }

  /** Waits for the calls that were made, and closes the connection. */
  async close(): Promise<void> {
    await this.#uses.idle();
    await this.#session?.close();
  }

  async #use<T>(use: (session: DatabaseSession) => Promise<T>): Promise<T> {
    let late: NodeJS.Timeout | undefined;
    try {
      // The time for connecting is that of the URL, for each of its hosts.
      const session = this.#session ?? (await this.#connect());
      late = setTimeout(() => session.abort(), LEASE_MS);
      return await use(session);
    } catch (error) {
      this.#session?.abort();
      this.#session = undefined;
      throw journalFailure(error, this.#needs.shown);
    } finally {
      clearTimeout(late);
    }
  }

  async #connect(): Promise<DatabaseSession> {
    const { connect, prepare } = this.#needs;
    const session = await connect();
    this.#session = session;
    void session.ended.then(() => {
      if (this.#session === session) this.#session = undefined;
    });
    await prepare?.(session);
    return session;
  }
}
