// ReadingSession is the connection by which one user of the journal reads. A read begins once the user's claims are valid, so it
// finds everything of its slices that was ever stored, and nothing that may still change.
import type { Parameter, Row, Statement } from './database-session.ts';
import type { FollowingSession } from './following-session.ts';
import type { WritingSession } from './writing-session.ts';

export class ReadingSession {
  readonly #session: FollowingSession;
  readonly #writing: Pick<WritingSession, 'ready'>;

  /** `writing`: the connection with the claims. */
  constructor(session: FollowingSession, writing: Pick<WritingSession, 'ready'>) {
    this.#session = session;
    this.#writing = writing;
  }

  /** Name of the database in messages. */
  get shown(): string {
    return this.#session.shown;
  }

  /** Returns the rows of a statement that changes nothing. Rejects with SvcError. */
  async query(statement: Statement, values: readonly Parameter[]): Promise<readonly Row[]> {
    await this.#writing.ready();
    return this.#session.query(statement, values);
  }
}
