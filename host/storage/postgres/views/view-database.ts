// ViewDatabase is the connections of a store of views: one that reads, one that writes, and one for as long as an index is made. They are
// made when they are needed, and again when they were lost.
//
// Invariant: the connection that writes does one work after the other, so that none is part of the transaction of another one.
import { DatabaseFailure } from '../database-failure.ts';
import type { DatabaseSession, Parameter, Row } from '../database-session.ts';
import { WorkQueue } from '../work-queue.ts';
import { type SessionSettings, ViewSession } from './view-session.ts';

/** Opens a connection to the database. */
export type Connect = () => Promise<DatabaseSession>;

/** Time limit of a statement that answers a query, in milliseconds. It is one walk of an index, and takes a few. */
const QUERY_MS = 5_000;
/** How long a statement that writes waits for a lock, in milliseconds. Transactions that take them are short. */
const LOCK_MS = 5_000;

const READING: SessionSettings = {
  default_transaction_read_only: 'on',
  statement_timeout: String(QUERY_MS),
};
/**
 * Rows are confirmed as the events of the journal are: on the disk, and on that of a synchronous standby. All nodes know how far the rows are. If a
 * crash or a failover took some of them back, a query would be answered without events that it has to see, until the nodes have looked again.
 */
const WRITING: SessionSettings = { lock_timeout: String(LOCK_MS) };
/** The server notices the end of the connection while it makes an index, and gives its locks up. */
const INDEXING: SessionSettings = { ...WRITING, client_connection_check_interval: '1000' };

export class ViewDatabase {
  readonly #reading: KeptConnection;
  readonly #writing: KeptConnection;
  readonly #connect: Connect;
  /** `postgresql://host:port/database`, for messages. */
  readonly shown: string;
  readonly #writes = new WorkQueue();

  constructor(connect: Connect, shown: string) {
    this.#connect = connect;
    this.shown = shown;
    this.#reading = new KeptConnection(connect, READING);
    this.#writing = new KeptConnection(connect, WRITING);
  }

  /**
   * Carries out a statement that only reads, once more if the connection was lost. Rejects with DatabaseFailure, and with the errors of
   * `connect`.
   */
  async read(text: string, values: readonly Parameter[]): Promise<readonly Row[]> {
    const session = await this.#reading.session();
    try {
      return await session.query(text, values);
    } catch (error) {
      if (!(error instanceof DatabaseFailure) || error.reason !== 'lost') throw error;
    }
    await session.ended;
    const next = await this.#reading.session();
    return next.query(text, values);
  }

  /** Does a work after those that were given before. Rejects as the work does, and with the errors of `connect`. */
  write<T>(work: (session: ViewSession) => Promise<T>): Promise<T> {
    return this.#writes.add(async () => work(await this.#writing.session()));
  }

  /** Does a work that may take long beside the others, with a connection of its own, which `signal` ends. */
  async writeAlone<T>(work: (session: ViewSession) => Promise<T>, signal: AbortSignal): Promise<T> {
    const session = await ViewSession.open(await this.#connect(), INDEXING);
    const abort = () => session.abort();
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    try {
      return await work(session);
    } finally {
      signal.removeEventListener('abort', abort);
      await session.close();
    }
  }

  /** Closes the connections once what was given is done. They are made again by the next statement. */
  async close(): Promise<void> {
    await this.#writes.idle();
    await Promise.all([this.#reading.close(), this.#writing.close()]);
  }
}

/** A connection that is made again when it was lost. */
class KeptConnection {
  readonly #connect: Connect;
  readonly #settings: SessionSettings;
  #session: Promise<ViewSession> | undefined;

  constructor(connect: Connect, settings: SessionSettings) {
    this.#connect = connect;
    this.#settings = settings;
  }

  async session(): Promise<ViewSession> {
    const opening = this.#session ?? this.#open();
    const session = await opening;
    if (!session.isWorn) return session;
    // It closes once the statements that were sent are answered.
    if (this.#session === opening) void this.close();
    return this.session();
  }

  async close(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    await session?.then((open) => open.close()).catch(() => {});
  }

  async #opened(onEnd: () => void): Promise<ViewSession> {
    const session = await ViewSession.open(await this.#connect(), this.#settings);
    // Called before those who wait for the end, so that they find that the connection is gone.
    void session.ended.then(onEnd);
    return session;
  }

  #open(): Promise<ViewSession> {
    const forget = () => {
      if (this.#session === opening) this.#session = undefined;
    };
    const opening = this.#opened(forget);
    this.#session = opening;
    opening.catch(forget);
    return opening;
  }
}
