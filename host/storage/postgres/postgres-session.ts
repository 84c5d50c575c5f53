// PostgresSession is a DatabaseSession over a connection of `pg`. It sends a statement when the one before it is answered, so that a
// statement that still waits when the connection ends was not done, for sure.
//
// Invariants
// - A statement that was sent settles once: with its rows, or with a failure that says whether it may have been carried out.
// - A success whose commit did not wait for its standby is a failure of unknown outcome: the server says it in a warning alone.
import { Socket } from 'node:net';
import { Client } from 'pg';
import { sentParameter } from './array-text.ts';
import { COLUMN_TYPES, UnsafeInteger } from './column-types.ts';
import { DatabaseFailure } from './database-failure.ts';
import type { DatabaseSession, Parameter, Row, Statement } from './database-session.ts';
import { openStream } from './database-stream.ts';
import type { DatabaseHost, DatabaseUrl } from './database-url.ts';
import { connectFailure, lostFailure, statementFailure } from './failure-reading.ts';
import { HandshakeGuard } from './handshake-guard.ts';
import type { TlsOptions } from './tls-files.ts';

/** A server that has not closed a connection so long after the last message does not react, in milliseconds. */
const CLOSE_MS = 1_000;
/** The function of the server that waits for a standby. Unlike texts of warnings, its name is not translated. */
const WAIT_FOR_STANDBY = 'SyncRepWaitForLSN';
/** SQLSTATE of a write in a transaction that may only read. */
const READ_ONLY = '25006';

interface Waiting {
  readonly statement: Statement;
  readonly values: readonly Parameter[];
  readonly settle: PromiseWithResolvers<readonly Row[]>;
}

export class PostgresSession implements DatabaseSession {
  readonly shown: string;
  readonly ended: Promise<void>;
  readonly #client: Client;
  readonly #socket: Socket;
  readonly #waiting: Waiting[] = [];
  #isSent = false;
  #isClosing = false;
  /** Why the connection has ended, or is about to. */
  #end: unknown;
  #hasEnded = false;
  #isCommitUnsure = false;

  private constructor(client: Client, socket: Socket, shown: string) {
    this.#client = client;
    this.#socket = socket;
    this.shown = shown;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    client.on('error', (error: Error) => this.#lose(error));
    client.on('end', () => {
      this.#lose(undefined);
      resolve();
    });
    client.on('notice', ({ routine }) => {
      if (routine === WAIT_FOR_STANDBY && this.#isSent) this.#isCommitUnsure = true;
    });
  }

  /**
   * Connects to one of the hosts. `prepare` uses the session within the time that the URL allows for both, and until `signal` is aborted.
   * Rejects with DatabaseFailure, and as `prepare` does.
   */
  static async open(
    url: DatabaseUrl,
    host: DatabaseHost,
    tls: TlsOptions | undefined,
    prepare: (session: PostgresSession) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<PostgresSession> {
    if (signal?.aborted === true) throw closed();
    const socket = new Socket();
    let stream = socket;
    const timer = setTimeout(() => stream.destroy(tooLate(url)), url.connectTimeoutMs);
    const cut = (): void => void stream.destroy(closed());
    signal?.addEventListener('abort', cut);
    try {
      stream = await openStream(socket, host, tls);
      const session = await PostgresSession.#begin(url, host, stream);
      await prepare(session);
      return session;
    } catch (error) {
      stream.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cut);
    }
  }

  static async #begin(
    url: DatabaseUrl,
    { host, port }: DatabaseHost,
    stream: Socket,
  ): Promise<PostgresSession> {
    guard(stream);
    const client = new Client({
      // All of them are given, because `pg` would read those that are missing from variables of the environment.
      host,
      port,
      user: url.user,
      password: () => passwordOf(url),
      database: url.database,
      ssl: false,
      sslnegotiation: 'postgres',
      application_name: url.applicationName,
      types: COLUMN_TYPES,
      stream: () => stream,
    });
    const session = new PostgresSession(client, stream, url.shown);
    try {
      await client.connect();
    } catch (error) {
      throw connectFailure(error);
    }
    return session;
  }

  /** The number of the process that the server, or a pooler before it, gave when the connection was made. */
  get processId(): number | undefined {
    return (this.#client as unknown as { processID?: number }).processID;
  }

  query(statement: Statement, values: readonly Parameter[] = []): Promise<readonly Row[]> {
    if (this.#hasEnded || this.#isClosing)
      return Promise.reject(this.#isClosing ? closed() : lostFailure(this.#end, 'not-done'));
    const settle = Promise.withResolvers<readonly Row[]>();
    this.#waiting.push({ statement, values, settle });
    if (!this.#isSent) void this.#sendAll();
    return settle.promise;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    if (!this.#isSent && !this.#hasEnded) this.#endClient();
    await this.ended;
  }

  abort(): void {
    this.#lose(undefined);
  }

  async #sendAll(): Promise<void> {
    this.#isSent = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
      await this.#send(next);
    this.#isSent = false;
    if (this.#isClosing && !this.#hasEnded) this.#endClient();
  }

  async #send({ statement, values, settle }: Waiting): Promise<void> {
    if (this.#hasEnded) {
      settle.reject(lostFailure(this.#end, 'not-done'));
      return;
    }
    this.#isCommitUnsure = false;
    try {
      const { rows } = await this.#client.query<unknown[]>({
        ...statement,
        values: values.map(sentParameter),
        rowMode: 'array',
      });
      if (this.#isCommitUnsure) throw unsureCommit();
      settle.resolve(rows);
    } catch (error) {
      settle.reject(this.#failureOf(error));
    }
  }

  #failureOf(error: unknown): DatabaseFailure {
    if (error instanceof UnsafeInteger)
      return new DatabaseFailure(error.message, { outcome: 'unknown', reason: 'answered' });
    const failure = statementFailure(error);
    // Nothing is sent after the end of a session, nor to a server that has become a standby or is closed to writers.
    if (failure.outcome === 'unknown' || failure.sqlState === READ_ONLY) this.#lose(error);
    return failure;
  }

  #lose(reason: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#end = reason;
    this.#socket.destroy();
  }

  /** Ends the connection by the last message of the protocol. A server that does not react to it delays nobody. */
  #endClient(): void {
    const timer = setTimeout(() => this.#lose(undefined), CLOSE_MS);
    void this.ended.then(() => clearTimeout(timer));
    void this.#client.end().catch(() => undefined);
  }
}

/**
 * Lets `pg` use a connected stream: connecting it does nothing, bytes of the handshake are checked before `pg` sees them, and an
 * exception of its parser ends the connection instead of the process.
 */
function guard(stream: Socket): void {
  const handshake = new HandshakeGuard();
  const emit = stream.emit.bind(stream) as (event: string, ...values: unknown[]) => boolean;
  const guarded = (event: string, ...values: unknown[]): boolean => {
    if (event !== 'data') return emit(event, ...values);
    try {
      const bytes = handshake.pass(values[0] as Buffer);
      return bytes.length === 0 || emit(event, bytes);
    } catch (error) {
      stream.destroy(error as Error);
      return true;
    }
  };
  Object.assign(stream, {
    emit: guarded,
    connect: () => process.nextTick(() => emit('connect')),
  });
}

function passwordOf(url: DatabaseUrl): string {
  const password = url.password();
  if (password === undefined)
    throw new DatabaseFailure('the server asks for a password, and the URL has none', {
      outcome: 'not-done',
      sqlState: '28000',
    });
  return password;
}

function tooLate({ connectTimeoutMs }: DatabaseUrl): DatabaseFailure {
  return new DatabaseFailure(`there was no answer within ${connectTimeoutMs / 1_000} s`, {
    outcome: 'not-done',
    reason: 'unreachable',
  });
}

function closed(): DatabaseFailure {
  return new DatabaseFailure('the connection was closed', { outcome: 'not-done', reason: 'lost' });
}

function unsureCommit(): DatabaseFailure {
  return new DatabaseFailure('the commit did not wait for its standby', {
    outcome: 'unknown',
    sqlState: '01000',
  });
}
