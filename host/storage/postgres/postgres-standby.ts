// PostgresStandby waits for a journal in a database that another runtime uses, until that one leaves or its lease ends.
import { setTimeout as delay } from 'node:timers/promises';
import { SvcError } from '@svc/kit/svc-error';
import type { JournalInDatabase } from '../journal-location.ts';
import type { JournalStandby, JournalTakeover } from '../journal-takeover.ts';
import type { OpenedPostgres, PostgresWriterSettings } from './opened-postgres.ts';

/** Least pause between two tries, in milliseconds: each one makes a connection, which costs the server more than a look at a file. */
const TRY_INTERVAL_MS_MIN = 250;
/** Codes of failures after which it tries again: the journal is in use, or the database is away for a while. */
const PASSING: ReadonlySet<string> = new Set(['SVC_DATA_IN_USE', 'SVC_JOURNAL_UNAVAILABLE']);

type StandbySettings = Omit<PostgresWriterSettings, 'fingerprint' | 'isExclusive'>;

export class PostgresStandby implements JournalStandby<OpenedPostgres> {
  readonly #location: JournalInDatabase;
  readonly #settings: StandbySettings;

  constructor(location: JournalInDatabase, settings: StandbySettings) {
    this.#location = location;
    this.#settings = { ...settings, ...(settings.warn && { warn: onceInARow(settings.warn) }) };
  }

  async open({
    tryIntervalMs,
    signal,
    onLocked,
    fingerprint,
  }: JournalTakeover): Promise<OpenedPostgres> {
    // Services with a folder do not load this code.
    const { openPostgresJournal } = await import('./opened-postgres.ts');
    for (;;) {
      signal.throwIfAborted();
      try {
        const opened = await openPostgresJournal(this.#location, {
          ...this.#settings,
          fingerprint,
          isExclusive: true,
        });
        onLocked();
        return opened;
      } catch (error) {
        if (!(error instanceof SvcError) || !PASSING.has(error.code)) throw error;
      }
      // An aborted pause ends the wait in the next turn.
      await delay(Math.max(tryIntervalMs, TRY_INTERVAL_MS_MIN), undefined, { signal }).catch(
        () => undefined,
      );
    }
  }

  async close(): Promise<void> {
    // Nothing was started.
  }
}

/** Returns a function that leaves out a message that is the one before: every try connects, and finds the same. */
function onceInARow(warn: (message: string) => void): (message: string) => void {
  let last: string | undefined;
  return (message) => {
    if (message !== last) warn(message);
    last = message;
  };
}
