// StoredEventTypes reads the event types that a journal holds. It reads them from the table `manifest`, in which the
// journal's writer records each type, so it reads no event. It opens the file through SQLite alone: this process has
// the journal open, and closing the file in another way would release the locks that SQLite has on it.
import type { StoredEventType } from '../journal-contents.ts';
import { openForReading } from './journal-file.ts';
import { journalFailure } from './sqlite-failure.ts';

const EVENT_TYPES = 'SELECT component, manifest FROM manifest ORDER BY component, manifest';

/**
 * Returns the event types in the journal at `path`, sorted by component and manifest (the name of the type). The
 * journal has to have the current format. Throws SVC_JOURNAL_CORRUPT or SVC_JOURNAL_UNAVAILABLE.
 */
export function readEventTypes(path: string): readonly StoredEventType[] {
  try {
    const database = openForReading(path);
    try {
      return database
        .prepare(EVENT_TYPES)
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
