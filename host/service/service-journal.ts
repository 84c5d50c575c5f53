// ServiceJournal is the journal of a service that runs modules. It is opened when the first shard asks for it, which
// is after the module was admitted: a refused module touches nothing on disk. Invariant: a module whose components do
// not read what the journal holds is refused before any shard is connected, except in `svc dev`.
import type { SourceDescription } from '../hosting/guest-source.ts';
import type { JournalConnection } from '../storage/journal-connection.ts';
import type { SvcError } from '@svc/kit/svc-error';
import type { JournalLimits } from '../storage/sqlite/journal-limits.ts';
import { JournalSeries } from '../storage/journal-series.ts';
import { openSqliteJournal, type SqliteJournal } from '../storage/sqlite/sqlite-journal.ts';
import { systemClock } from '../system.ts';
import { checkEventTypes } from './unknown-event-types.ts';

export interface ServiceJournalOptions {
  readonly dataFolder: string;
  readonly limits: JournalLimits;
  /** The module that the journal is opened for. */
  readonly source: Promise<Pick<SourceDescription, 'fingerprint' | 'descriptor'>>;
  /**
   * Components that the module no longer has, whose events are ignored. Undefined: all of them, as in the dev loop, which
   * reports unknown event types by itself.
   */
  readonly ignoreComponents: readonly string[] | undefined;
  /** Called when the writer has ended by itself: the service can store nothing any more. */
  readonly onFailure: (failure: SvcError) => void;
}

export class ServiceJournal {
  readonly series = new JournalSeries();
  /** Resolves once the journal is open; stays pending if it is never opened. */
  readonly opened: Promise<SqliteJournal>;
  readonly #options: ServiceJournalOptions;
  readonly #opened = Promise.withResolvers<SqliteJournal>();
  #journal: SqliteJournal | undefined;
  #opening: Promise<SqliteJournal> | undefined;

  constructor(options: ServiceJournalOptions) {
    this.#options = options;
    this.opened = this.#opened.promise;
  }

  /** Opens the journal at the first call. Rejects with SVC_DATA_…, SVC_JOURNAL_… and SVC_MANIFEST_UNREADABLE. */
  async connect(): Promise<JournalConnection> {
    const journal = await (this.#opening ??= this.#open());
    return journal.connect();
  }

  async close(): Promise<void> {
    await this.#journal?.close();
  }

  async #open(): Promise<SqliteJournal> {
    const { dataFolder, limits, source, ignoreComponents, onFailure } = this.#options;
    const journal = await openSqliteJournal(dataFolder, limits, { series: this.series });
    this.#journal = journal;
    void journal.failure.then(onFailure);
    const { fingerprint, descriptor } = await source;
    if (ignoreComponents !== undefined) checkEventTypes(journal, descriptor, ignoreComponents);
    const timeMs = systemClock.nowMs();
    journal.noteModule({ fingerprint, descriptor: JSON.stringify(descriptor), timeMs });
    this.#opened.resolve(journal);
    return journal;
  }
}
