// JournalTypes reads the event types of a journal that another process may be writing. Journals of format 1 and 2 do not
// list theirs; a host that opens one does.
import { journalPath } from '../journal-file.ts';
import { existsSync } from 'node:fs';
import type { JournalFolder } from '../../journal-location.ts';
import { ReadingConnection } from './reading-connection.ts';

const EVENT_TYPES = (format: number) =>
  format < 3
    ? 'SELECT NULL, NULL WHERE FALSE'
    : 'SELECT component, manifest FROM manifest ORDER BY component, manifest';

/** The event types of a journal, read again by each call. */
export interface JournalTypes {
  readonly location: JournalFolder;
  readonly eventTypes: () => readonly { readonly component: string; readonly manifest: string }[];
}

/** Returns whether there is a journal in the folder, which may be missing itself. */
export function hasJournal(dir: string): boolean {
  return existsSync(journalPath(dir));
}

/**
 * Returns the event types in the journal of a folder. Its method throws SVC_JOURNAL_MISSING, SVC_JOURNAL_NEWER,
 * SVC_JOURNAL_CORRUPT, SVC_JOURNAL_UNAVAILABLE and SVC_DATA_UNUSABLE.
 */
export function journalTypes(dir: string): JournalTypes {
  return {
    location: { kind: 'folder', dir },
    eventTypes: () => {
      const connection = new ReadingConnection(dir);
      try {
        return connection.rows(EVENT_TYPES, []).map(([component, manifest]) => ({
          component: String(component),
          manifest: String(manifest),
        }));
      } finally {
        connection.close();
      }
    },
  };
}
