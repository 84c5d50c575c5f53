// A journal in a folder, opened for as long as a test uses it.
import type { Journal } from '../../host/engine/needs/journal.ts';
import { attachSqliteJournal } from '../../host/storage/sqlite/attached-journal.ts';
import { openSqliteJournal, type SqliteJournal } from '../../host/storage/sqlite/sqlite-journal.ts';

export async function withJournal<T>(
  dir: string,
  use: (journal: Journal, opened: SqliteJournal) => Promise<T>,
): Promise<T> {
  const opened = await openSqliteJournal(dir);
  try {
    const journal = attachSqliteJournal(opened.connect());
    try {
      return await use(journal, opened);
    } finally {
      await journal.close();
    }
  } finally {
    await opened.close();
  }
}
