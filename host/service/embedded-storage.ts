// EmbeddedStorage: the journal of an embedded service, in a folder or in memory, and the check that the components
// read everything in it. The journal is in memory only if the program asks for it.
import { resolve } from 'node:path';
import type { ModuleDescriptor } from '@svc/contract';
import type { Journal } from '../engine/needs/journal.ts';
import { SvcError } from '@svc/kit/svc-error';
import { attachJournal } from '../storage/journal-connection.ts';
import type { JournalLimits } from '../storage/sqlite/journal-limits.ts';
import { JournalSeries } from '../storage/journal-series.ts';
import { MemoryJournal } from '../storage/memory/memory-journal.ts';
import { openSqliteJournal } from '../storage/sqlite/sqlite-journal.ts';
import { systemClock } from '../system.ts';
import { checkEventTypes } from './unknown-event-types.ts';

/** Where the journal is: in a folder, or in memory, where it is lost with the service. */
export type StorageOptions =
  | {
      readonly dataFolder: string;
      readonly journal?: undefined;
      /** Components that the program has dropped on purpose: their events in the journal are ignored. */
      readonly ignoreComponents?: readonly string[];
    }
  | { readonly journal: 'memory'; readonly dataFolder?: undefined };

export interface EmbeddedStorage {
  readonly journal: Journal;
  /** Counts of the journal's writer. */
  readonly series: JournalSeries;
  /** Data folder; undefined if the journal is in memory. */
  readonly dir: string | undefined;
  /** Resolves if the journal's writer ends unexpectedly. */
  readonly failure: Promise<SvcError>;
  close(): Promise<void>;
}

/** The program that writes the journal, as the journal records it. */
export interface StoringProgram {
  readonly fingerprint: string;
  readonly descriptor: ModuleDescriptor;
}

/** Rejects with SVC_SETTING_INVALID, SVC_MANIFEST_UNREADABLE, and the errors of opening the journal. */
export async function openEmbeddedStorage(
  options: StorageOptions,
  limits: JournalLimits,
  { fingerprint, descriptor }: StoringProgram,
): Promise<EmbeddedStorage> {
  const dir = folderOf(options);
  const series = new JournalSeries();
  if (dir === undefined) {
    const journal = new MemoryJournal();
    const failure = new Promise<SvcError>(() => {});
    return { journal, series, dir, failure, close: () => journal.close() };
  }
  const { ignoreComponents = [] } = options as { readonly ignoreComponents?: readonly string[] };
  const sqlite = await openSqliteJournal(dir, limits, { series });
  try {
    checkEventTypes(sqlite, descriptor, ignoreComponents, WORDS);
    const timeMs = systemClock.nowMs();
    sqlite.noteModule({ fingerprint, descriptor: JSON.stringify(descriptor), timeMs });
    const journal = attachJournal(sqlite.connect());
    const close = async (): Promise<void> => {
      await journal.close();
      await sqlite.close();
    };
    return { journal, series, dir, failure: sqlite.failure, close };
  } catch (error) {
    await sqlite.close();
    throw error;
  }
}

const WORDS = {
  readers: 'of this program',
  remedy: (components: readonly string[]) =>
    `Give it the component that reads them, or ignoreComponents: ${JSON.stringify(components)} when that is meant.`,
};

/**
 * Returns the data folder. An undefined or empty `dataFolder`, as from a missing variable, is an error and does not
 * mean a journal in memory.
 */
function folderOf({ dataFolder, journal }: StorageOptions): string | undefined {
  if (journal === 'memory' && dataFolder === undefined) return undefined;
  if (journal === undefined && typeof dataFolder === 'string' && dataFolder !== '')
    return resolve(dataFolder);
  throw new SvcError(
    'SVC_SETTING_INVALID',
    "A service takes either dataFolder, the folder of its journal, or journal: 'memory', and found " +
      `dataFolder: ${JSON.stringify(dataFolder)} and journal: ${JSON.stringify(journal)}.`,
  );
}
