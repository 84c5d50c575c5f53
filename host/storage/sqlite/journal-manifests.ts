// What the events of a journal are stored under, without reading them: its writer keeps a list. A connection
// of SQLite's alone: the host that asks has the journal open, and to close the file otherwise would end its locks.
import { journalPath, openForReading } from './journal-file.ts';
import { journalFailure } from './sqlite-failure.ts';

export interface StoredManifest {
  readonly component: string;
  readonly manifest: string;
}

const MANIFESTS = 'SELECT component, manifest FROM manifest ORDER BY component, manifest';

/** Of a journal of the present format. Throws SVC_JOURNAL_CORRUPT or SVC_JOURNAL_UNAVAILABLE. */
export function storedManifests(dir: string): readonly StoredManifest[] {
  const path = journalPath(dir);
  try {
    const database = openForReading(path);
    try {
      return database
        .prepare(MANIFESTS)
        .all()
        .map((row) => ({
          component: String(row['component']),
          manifest: String(row['manifest']),
        }));
    } finally {
      database.close();
    }
  } catch (error) {
    throw journalFailure(error, 'read', path);
  }
}
