// DatabaseReader reads a journal in a database for a tool, by one statement at a time. The connection is made with the first statement,
// and again with the next one after it was closed or lost.
import { systemClock } from '../../../system.ts';
import { type JournalInDatabase, locationName } from '../../journal-location.ts';
import type { Parameter, Row, Statement } from '../database-session.ts';
import { FollowingSession } from '../following-session.ts';

export class DatabaseReader {
  readonly location: JournalInDatabase;
  #session: FollowingSession | undefined;

  constructor(location: JournalInDatabase) {
    this.location = location;
  }

  /** Name of the journal in messages. */
  get shown(): string {
    return locationName(this.location);
  }

  /** Returns the rows of a statement. Rejects as `connectForReading` does, and with SVC_JOURNAL_UNAVAILABLE. */
  query(statement: Statement, values: readonly Parameter[] = []): Promise<readonly Row[]> {
    this.#session ??= new FollowingSession({
      // Tools that read a folder do not load what speaks to databases.
      connect: async () => (await import('./database-reading.ts')).connectForReading(this.location),
      shown: this.shown,
      clock: systemClock,
    });
    return this.#session.query(statement, values);
  }

  /** Closes the connection. */
  close(): void {
    this.#session?.close();
    this.#session = undefined;
  }
}
