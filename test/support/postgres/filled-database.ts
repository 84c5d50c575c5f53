// FilledDatabase is a fresh database that holds what `fillJournal` writes into a folder.
import type { JournalInDatabase } from '../../../host/storage/journal-location.ts';
import { journalInDatabase } from '../../../host/storage/journal-location.ts';
import type { Journal } from '../../../host/engine/needs/journal.ts';
import { fill } from '../damaged-journal.ts';
import type { FreshDatabase } from './fresh-database.ts';
import { JournalDatabase } from './journal-database.ts';
import type { PostgresServer } from './postgres-server.ts';

export class FilledDatabase {
  readonly journals: JournalDatabase;
  readonly location: JournalInDatabase;

  static async make(
    server: PostgresServer,
    records: number,
    entities: number,
  ): Promise<FilledDatabase> {
    const filled = new FilledDatabase(await JournalDatabase.make(server));
    await filled.use((journal) => fill(journal, records, entities));
    return filled;
  }

  private constructor(journals: JournalDatabase) {
    this.journals = journals;
    this.location = journalInDatabase(journals.database.source);
  }

  get database(): FreshDatabase {
    return this.journals.database;
  }

  /** Calls a function with the journal as a thread has it that writes. */
  async use<T>(use: (journal: Journal) => Promise<T>): Promise<T> {
    const journal = this.journals.attach();
    try {
      return await use(journal);
    } finally {
      await journal.close();
    }
  }
}
