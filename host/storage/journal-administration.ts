// JournalAdministration is what tools do with a journal that a host may have open: they find that host, or change timers and lanes
// of a journal that no host uses.
import type { Awaitable } from '@svc/model/call';
import { TIMER_LIMITS_DEFAULT } from '@svc/model/timer-limits';
import { JOURNAL_LIMITS_DEFAULT } from './journal-limits.ts';
import type { JournalInDatabase, JournalLocation } from './journal-location.ts';
import { JournalSeries } from './journal-series.ts';
import { type OpenedJournal, openJournal } from './opened-journal.ts';
import { isHosted, readOwner } from './sqlite/data-folder.ts';
import { changeJournal as changeSqliteJournal } from './sqlite/tools/journal-change.ts';

export type ChangeableJournal = Pick<
  OpenedJournal,
  'cancelTimer' | 'retryTimer' | 'settleConsumer'
>;

/**
 * Changes a journal as its only user. Resolves with what `change` resolves with, which is whether it has found something to
 * change, once the change is stored. Rejects with SVC_JOURNAL_MISSING, and as opening the journal for writing does, such as with
 * SVC_DATA_IN_USE. A journal of a format without timers and lanes stays in its format.
 */
export function changeJournal(
  location: JournalLocation,
  change: (journal: ChangeableJournal) => Promise<boolean>,
): Promise<boolean> {
  switch (location.kind) {
    case 'folder':
      return changeSqliteJournal(location.dir, change);
    case 'postgres':
      return changeInDatabase(location, change);
  }
}

/** Returns the control socket of the host that has a journal open on this machine; undefined if none is known. */
export function controlSocketOf(location: JournalLocation): Awaitable<string | undefined> {
  switch (location.kind) {
    case 'folder':
      return readOwner(location.dir)?.control;
    case 'postgres':
      return preview().then((code) => code.controlSocketIn(location));
  }
}

/** Returns whether a host uses a journal, as far as it can be seen without opening the journal. */
export function hasHost(location: JournalLocation): Awaitable<boolean> {
  switch (location.kind) {
    case 'folder':
      return isHosted(location.dir);
    case 'postgres':
      return preview().then((code) => code.hasNodes(location));
  }
}

/** Services with a folder do not load this code. */
const preview = () => import('./postgres/tools/database-preview.ts');

async function changeInDatabase(
  location: JournalInDatabase,
  change: (journal: ChangeableJournal) => Promise<boolean>,
): Promise<boolean> {
  // A missing journal is not made.
  await (await preview()).lastModuleIn(location);
  const journal = await openJournal(location, {
    limits: JOURNAL_LIMITS_DEFAULT,
    timerLimits: TIMER_LIMITS_DEFAULT,
    series: new JournalSeries(),
    fingerprint: '',
    isExclusive: true,
  });
  try {
    return await change(journal);
  } finally {
    await journal.close();
  }
}
