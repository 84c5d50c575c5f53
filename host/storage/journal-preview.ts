// JournalPreview is what a process finds out about a journal before it opens it. The journal is only read, and another process may
// be writing it.
import type { Awaitable } from '@svc/model/call';
import type { JournalContents } from './journal-contents.ts';
import type { RunningModule } from './cluster-nodes.ts';
import type { JournalInDatabase, JournalLocation } from './journal-location.ts';
import { type LastModule, lastModule } from './sqlite/tools/journal-modules.ts';
import { hasJournal, journalTypes } from './sqlite/tools/journal-types.ts';

/** Services with a folder do not load this code. */
const preview = () => import('./postgres/tools/database-preview.ts');

/** Returns whether there is a journal at the location, which may be missing itself. */
export function journalExists(location: JournalLocation): Awaitable<boolean> {
  switch (location.kind) {
    case 'folder':
      return hasJournal(location.dir);
    case 'postgres':
      return import('./postgres/tools/database-reading.ts').then((code) =>
        code.hasJournal(location),
      );
  }
}

/** The event types of a journal, read again by each call. */
export type StoredTypes = Pick<JournalContents, 'location' | 'eventTypes'>;

/**
 * Returns the event types of a journal. Its method throws SVC_JOURNAL_MISSING, SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT,
 * SVC_JOURNAL_UNAVAILABLE and SVC_DATA_UNUSABLE.
 */
export function storedTypes(location: JournalLocation): StoredTypes {
  switch (location.kind) {
    case 'folder':
      return journalTypes(location.dir);
    case 'postgres':
      return {
        location,
        eventTypes: async () => (await preview()).databaseTypes(location).eventTypes(),
      };
  }
}

/**
 * Returns the modules that nodes run now on a journal in a database. Rejects with SVC_JOURNAL_MISSING, SVC_JOURNAL_NEWER,
 * SVC_JOURNAL_CORRUPT, SVC_JOURNAL_UNAVAILABLE and SVC_DATABASE_….
 */
export function runningModules(location: JournalInDatabase): Promise<readonly RunningModule[]> {
  return preview().then((code) => code.runningModulesIn(location));
}

/**
 * Returns the module that wrote a journal last. Throws SVC_JOURNAL_MISSING, SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT,
 * SVC_JOURNAL_UNAVAILABLE and SVC_DATA_UNUSABLE.
 */
export function lastWriter(location: JournalLocation): Awaitable<LastModule> {
  switch (location.kind) {
    case 'folder':
      return lastModule(location.dir);
    case 'postgres':
      return preview().then((code) => code.lastModuleIn(location));
  }
}
