// JournalAdministration is what tools do with a journal that a host may have open: they find that host, or change timers and lanes
// themselves.
import type { Awaitable } from '@svc/model/call';
import type { JournalFolder, JournalInDatabase, JournalLocation } from './journal-location.ts';
import { inspectConsumers } from './journal-reading.ts';
import type { LaneAdministration } from './lane-administration.ts';
import { StoppedLanes } from './stopped-lanes.ts';
import type { TimerAdministration } from './timer-administration.ts';
import { isHosted, readOwner } from './sqlite/data-folder.ts';
import { changeJournal as changeSqliteJournal } from './sqlite/tools/journal-change.ts';

export interface ChangeableJournal extends Pick<TimerAdministration, 'cancelTimer' | 'retryTimer'> {
  readonly lanes: LaneAdministration;
  /** Whether hosts use the journal meanwhile, which is possible in a database. */
  readonly hasHost: boolean;
}

/**
 * Changes a journal, in a folder as its only user. Resolves with what `change` resolves with, which is whether it has found something to
 * change, once the change is stored. Rejects with SVC_JOURNAL_MISSING, and as opening the journal for writing does, such as with
 * SVC_DATA_IN_USE. A journal of a format without timers and lanes stays in its format.
 */
export function changeJournal(
  location: JournalLocation,
  change: (journal: ChangeableJournal) => Promise<boolean>,
): Promise<boolean> {
  switch (location.kind) {
    case 'folder':
      return changeInFolder(location, change);
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

function changeInFolder(
  location: JournalFolder,
  change: (journal: ChangeableJournal) => Promise<boolean>,
): Promise<boolean> {
  return changeSqliteJournal(location.dir, async (journal) => {
    const inspection = inspectConsumers(location);
    try {
      return await change({
        cancelTimer: (...timer) => journal.cancelTimer(...timer),
        retryTimer: (...timer) => journal.retryTimer(...timer),
        lanes: new StoppedLanes(inspection, journal),
        hasHost: false,
      });
    } finally {
      inspection.close();
    }
  });
}

async function changeInDatabase(
  location: JournalInDatabase,
  change: (journal: ChangeableJournal) => Promise<boolean>,
): Promise<boolean> {
  const [{ changeDatabase }, { hasNodes }] = await Promise.all([
    import('./postgres/tools/database-change.ts'),
    preview(),
  ]);
  const isUsed = await hasNodes(location);
  return changeDatabase(location, (journal) => change({ ...journal, hasHost: isUsed }));
}
