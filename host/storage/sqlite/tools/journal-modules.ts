// JournalModules finds the module that wrote a journal last. Journals of format 1 and 2 have none.
import { ReadingConnection } from './reading-connection.ts';

const LAST = (format: number) =>
  format < 3
    ? 'SELECT NULL WHERE FALSE'
    : 'SELECT descriptor, fingerprint FROM module ORDER BY mno DESC LIMIT 1';

/** Members that the journal does not have, or that are damaged, are undefined. */
export interface LastModule {
  /** JSON text. */
  readonly descriptor: string | undefined;
  readonly fingerprint: string | undefined;
}

/**
 * Returns the module that wrote last. Throws SVC_JOURNAL_MISSING, SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT,
 * SVC_JOURNAL_UNAVAILABLE and SVC_DATA_UNUSABLE.
 */
export function lastModule(dir: string): LastModule {
  const connection = new ReadingConnection(dir);
  try {
    const [descriptor, fingerprint] = connection.rows(LAST, [])[0] ?? [];
    return {
      descriptor: typeof descriptor === 'string' ? descriptor : undefined,
      fingerprint: typeof fingerprint === 'string' ? fingerprint : undefined,
    };
  } finally {
    connection.close();
  }
}
