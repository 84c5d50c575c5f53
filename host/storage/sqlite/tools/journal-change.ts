// JournalChange changes the timers and lanes in a data folder that no host uses.
import { openSqliteJournal, type SqliteJournal } from '../sqlite-journal.ts';
import { ReadingConnection } from './reading-connection.ts';
import { FIRST_FORMAT_WITH_TIMERS } from './timer-inspection.ts';

export type ChangeableJournal = Pick<
  SqliteJournal,
  'cancelTimer' | 'retryTimer' | 'settleConsumer'
>;

/**
 * Changes a journal under the lock of its folder. Resolves with what `change` resolves with, which is whether it has found
 * something to change, once the change is on disk. Rejects with SVC_JOURNAL_MISSING, and as opening the journal for writing
 * does, such as with SVC_DATA_IN_USE. A journal of a format without timers and lanes stays in its format.
 */
export async function changeJournal(
  dir: string,
  change: (journal: ChangeableJournal) => Promise<boolean>,
): Promise<boolean> {
  const connection = new ReadingConnection(dir);
  const { format } = connection;
  connection.close();
  if (format < FIRST_FORMAT_WITH_TIMERS) return false;
  const journal = await openSqliteJournal(dir);
  try {
    return await change(journal);
  } finally {
    await journal.close();
  }
}
