// JournalModules finds the descriptor of the module that wrote a journal last. Journals of format 1 and 2 have none.
import { ReadingConnection } from './reading-connection.ts';

const LAST = (format: number) =>
  format < 3
    ? 'SELECT NULL WHERE FALSE'
    : 'SELECT descriptor FROM module ORDER BY mno DESC LIMIT 1';

/**
 * Returns the descriptor as JSON text; undefined when the journal has none. Throws SVC_JOURNAL_MISSING,
 * SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT, SVC_JOURNAL_UNAVAILABLE and SVC_DATA_UNUSABLE.
 */
export function lastDescriptor(dir: string): string | undefined {
  const connection = new ReadingConnection(dir);
  try {
    const descriptor = connection.rows(LAST, [])[0]?.[0];
    return typeof descriptor === 'string' ? descriptor : undefined;
  } finally {
    connection.close();
  }
}
