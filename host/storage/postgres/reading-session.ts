// ReadingSession is the connection by which one user of the journal reads. A read begins once the user's claims are valid, so it
// finds everything of its slices that was ever stored, and nothing that may still change behind it.
import type { SvcError } from '@svc/kit/svc-error';
import { DatabaseFailure } from './database-failure.ts';
import type { DatabaseSession, Parameter, Row, Statement } from './database-session.ts';
import { journalFailure } from './journal-failure.ts';
import type { WritingSession } from './writing-session.ts';

export interface ReadingSessionNeeds {
  /** Makes a connection. Rejects with SvcError. */
  readonly connect: () => Promise<DatabaseSession>;
  readonly writing: Pick<WritingSession, 'ready'>;
  /** Name of the database in messages. */
  readonly shown: string;
}

export class ReadingSession {
  readonly #needs: ReadingSessionNeeds;
  #session: Promise<DatabaseSession> | undefined = undefined;
  #end: SvcError | undefined = undefined;

  constructor(needs: ReadingSessionNeeds) {
    this.#needs = needs;
  }

  /** Returns the rows of a statement that changes nothing. Rejects with SvcError. */
  async query(statement: Statement, values: readonly Parameter[]): Promise<readonly Row[]> {
    try {
      for (let attempt = 0; ; attempt++) {
        await this.#needs.writing.ready();
        if (this.#end !== undefined) throw this.#end;
        const session = await this.#connected();
        try {
          return await session.query(statement, values);
        } catch (error) {
          // The connection may have been lost long ago. A read is repeated once, on another one.
          const isLost = error instanceof DatabaseFailure && error.sqlState === undefined;
          if (!isLost || attempt > 0) throw error;
        }
      }
    } catch (error) {
      throw journalFailure(error, this.#needs.shown);
    }
  }

  /** Closes the connection; later reads fail with `failure`. */
  async close(failure: SvcError): Promise<void> {
    this.#end ??= failure;
    const session = await this.#session?.catch(() => undefined);
    await session?.close();
  }

  #connected(): Promise<DatabaseSession> {
    this.#session ??= this.#connect();
    return this.#session;
  }

  async #connect(): Promise<DatabaseSession> {
    const forget = () => {
      this.#session = undefined;
    };
    try {
      const session = await this.#needs.connect();
      void session.ended.then(forget);
      return session;
    } catch (error) {
      forget();
      throw error;
    }
  }
}
