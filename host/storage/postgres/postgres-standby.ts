// PostgresStandby waits for a journal in a database that another runtime uses, until that one leaves or its lease ends.
import { setTimeout as delay } from 'node:timers/promises';
import { SvcError } from '@svc/kit/svc-error';
import type { JournalInDatabase } from '../journal-location.ts';
import type { JournalStandby, JournalTakeover } from '../journal-takeover.ts';
import type { OpenedPostgres, PostgresWriterSettings } from './opened-postgres.ts';

export class PostgresStandby implements JournalStandby<OpenedPostgres> {
  readonly #location: JournalInDatabase;
  readonly #settings: PostgresWriterSettings;

  constructor(location: JournalInDatabase, settings: PostgresWriterSettings) {
    this.#location = location;
    this.#settings = settings;
  }

  async open({ tryIntervalMs, signal, onLocked }: JournalTakeover): Promise<OpenedPostgres> {
    // Services with a folder do not load this code.
    const { openPostgresJournal } = await import('./opened-postgres.ts');
    for (;;) {
      signal.throwIfAborted();
      try {
        const opened = await openPostgresJournal(this.#location, this.#settings);
        onLocked();
        return opened;
      } catch (error) {
        if (!(error instanceof SvcError) || error.code !== 'SVC_DATA_IN_USE') throw error;
      }
      await delay(tryIntervalMs);
    }
  }

  async close(): Promise<void> {
    // Nothing was started.
  }
}
