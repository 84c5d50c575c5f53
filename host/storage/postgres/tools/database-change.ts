// DatabaseChange lets a tool change timers and lanes of a journal in a database, which nodes may be using: the rows are locked for the
// change, and nodes follow it. The tool is no node, and owns nothing.
import { TIMER_LIMITS_DEFAULT } from '@svc/model/timer-limits';
import { Occurrences } from '../../../schedule/occurrences.ts';
import type { JournalInDatabase } from '../../journal-location.ts';
import type { LaneAdministration } from '../../lane-administration.ts';
import type { TimerAdministration } from '../../timer-administration.ts';
import { connectDatabase } from '../connect-database.ts';
import { StoredLaneChanges } from '../consumers/stored-lane-changes.ts';
import { journalFailure } from '../journal-failure.ts';
import { readJournalIdentity } from '../migration.ts';
import type { WithSession } from '../operator-change.ts';
import { PostgresTimerAdministration } from '../timers/timer-administration.ts';
import { missingJournal } from './database-reading.ts';

export interface DatabaseAdministration extends Pick<
  TimerAdministration,
  'cancelTimer' | 'retryTimer'
> {
  readonly lanes: LaneAdministration;
}

/**
 * Calls a function with what changes a journal. Rejects as the function does, as connecting does, and with SVC_JOURNAL_MISSING,
 * SVC_JOURNAL_NEWER and SVC_JOURNAL_CORRUPT.
 */
export async function changeDatabase<T>(
  location: JournalInDatabase,
  change: (journal: DatabaseAdministration) => Promise<T>,
): Promise<T> {
  const session = await connectDatabase(location.source);
  try {
    if ((await readJournalIdentity(session)) === undefined) throw missingJournal(location);
    const withSession: WithSession = (use) => use(session);
    const timers = new PostgresTimerAdministration({
      withSession,
      rules: { limits: TIMER_LIMITS_DEFAULT, occurrences: new Occurrences() },
      // It belongs to no node, and stores nothing that depends on one.
      fence: () => Promise.resolve(),
      // Nodes look at what is due at least once a second.
      onStored: () => undefined,
    });
    return await change({
      cancelTimer: (...timer) => timers.cancelTimer(...timer),
      retryTimer: (...timer) => timers.retryTimer(...timer),
      lanes: new StoredLaneChanges(withSession),
    });
  } catch (error) {
    throw journalFailure(error, session.shown);
  } finally {
    await session.close();
  }
}
