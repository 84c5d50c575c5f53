// JournalOpening opens the journal in a data folder for the components that are about to be served, as modules or in a
// program. Invariant: a journal with events that none of them reads is closed again and nothing is written to it.
import type { SourceDescription } from '../hosting/guest-source.ts';
import type { JournalSeries } from '../storage/journal-series.ts';
import type { JournalLimits } from '../storage/sqlite/journal-limits.ts';
import { openSqliteJournal, type SqliteJournal } from '../storage/sqlite/sqlite-journal.ts';
import { systemClock } from '../system.ts';
import { checkEventTypes, type UnknownTypesWords } from './unknown-event-types.ts';

export interface JournalOpening {
  readonly dataFolder: string;
  readonly limits: JournalLimits;
  /** Receives the counts of the writer. */
  readonly series: JournalSeries;
  /**
   * Components that are no longer there, on purpose, and whose events are ignored. Undefined: all of them, as in the dev
   * loop, which reports unknown event types by itself.
   */
  readonly ignoreComponents: readonly string[] | undefined;
  /** Absent: the words for a module. */
  readonly words?: UnknownTypesWords;
}

/** Components that are to use the journal, and what the journal notes of them. */
export type JournalUser = Pick<SourceDescription, 'fingerprint' | 'descriptor'>;

/** Opens the journal and notes its user. Rejects with SVC_DATA_…, SVC_DISK_FULL, SVC_JOURNAL_… and SVC_MANIFEST_UNREADABLE. */
export async function openJournalFor(
  { fingerprint, descriptor }: JournalUser,
  { dataFolder, limits, series, ignoreComponents, words }: JournalOpening,
): Promise<SqliteJournal> {
  const journal = await openSqliteJournal(dataFolder, limits, { series });
  try {
    if (ignoreComponents !== undefined)
      checkEventTypes(journal, descriptor, ignoreComponents, words);
    const timeMs = systemClock.nowMs();
    journal.noteModule({ fingerprint, descriptor: JSON.stringify(descriptor), timeMs });
    return journal;
  } catch (error) {
    await journal.close();
    throw error;
  }
}
