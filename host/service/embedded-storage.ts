// EmbeddedStorage: the journal of an embedded service, in a folder or in memory, and whether the components read
// what is in it. Nothing is kept in memory unless the program says so.
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

/** In the folder; or, gone with the service, in memory. */
export type StorageOptions =
  | {
      readonly dataFolder: string;
      readonly journal?: undefined;
      /** Components that the program no longer has, on purpose: their events in the journal are ignored. */
      readonly ignoreComponents?: readonly string[];
    }
  | { readonly journal: 'memory'; readonly dataFolder?: undefined };

export interface EmbeddedStorage {
  readonly journal: Journal;
  /** What the journal's writer counts. */
  readonly series: JournalSeries;
  /** The data folder; undefined: the journal is in memory. */
  readonly dir: string | undefined;
  /** Resolves when the journal's writer has ended by itself. */
  readonly failure: Promise<SvcError>;
  close(): Promise<void>;
}

/** The program that writes the journal, as the journal notes it. */
export interface StoringProgram {
  readonly fingerprint: string;
  readonly descriptor: ModuleDescriptor;
}

/** Throws SVC_SETTING_INVALID, SVC_MANIFEST_UNREADABLE, and what the journal cannot be opened for. */
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

/** A folder that was to be read from somewhere, and was not there, is no journal in memory. */
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
