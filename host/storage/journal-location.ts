// JournalLocation says where a journal is, as an operator or a program names it. Whoever opens, reads or changes a journal passes
// one to the functions of this folder, and knows nothing of the files behind it. Another implementation of the journal adds
// its location here: a member of the union, and a case of each function that takes one.
//
// Invariant: a location holds no secret. It is posted to threads, and its name is in messages.
import { resolve } from 'node:path';
import { type DatabaseSource, shownSource } from './postgres/database-source.ts';

export type { DatabaseSource };

export interface JournalFolder {
  readonly kind: 'folder';
  /** The data folder, absolute. */
  readonly dir: string;
}

export interface JournalInDatabase {
  readonly kind: 'postgres';
  /** Where the URL of the database is. */
  readonly source: DatabaseSource;
}

export type JournalLocation = JournalFolder | JournalInDatabase;

/** Returns the location of the journal in a data folder. */
export function journalIn(dataFolder: string): JournalFolder {
  return { kind: 'folder', dir: resolve(dataFolder) };
}

/** Returns the location of the journal in a database. */
export function journalInDatabase(source: DatabaseSource): JournalInDatabase {
  return { kind: 'postgres', source };
}

/** Returns the name of a location for messages. */
export function locationName(location: JournalLocation): string {
  switch (location.kind) {
    case 'folder':
      return location.dir;
    case 'postgres': {
      const { schema } = location.source;
      const where = schema === undefined ? '' : `the schema ${schema} of `;
      return `${where}the database whose URL is in ${shownSource(location.source)}`;
    }
  }
}

/** Returns the location of a journal in a data folder, or in the database if there is one. */
export function journalAt(
  dataFolder: string,
  database: DatabaseSource | undefined,
): JournalLocation {
  return database === undefined ? journalIn(dataFolder) : journalInDatabase(database);
}
