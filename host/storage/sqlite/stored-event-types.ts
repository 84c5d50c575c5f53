// StoredEventTypes reads which types of events a journal holds from the table that its writer keeps of them, so that no
// event is read. It opens the file through SQLite alone: this process has the journal open, and closing the file in
// another way would release the locks that SQLite has on it.
import type { StoredEventType } from '../journal-contents.ts';
import { openForReading } from './journal-file.ts';
import { journalFailure } from './sqlite-failure.ts';

const EVENT_TYPES = 'SELECT component, manifest FROM manifest ORDER BY component, manifest';

/**
 * The event types in the journal at `path`, which has the present format, sorted by component and manifest. Throws
 * SVC_JOURNAL_CORRUPT or SVC_JOURNAL_UNAVAILABLE.
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
