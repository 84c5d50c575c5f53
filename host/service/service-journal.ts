// ServiceJournal is the journal of a service that runs modules. It is opened when the first shard asks for it, which is
// after the module was admitted: a refused module touches nothing on disk. Invariant: a module that does not read all
// event types in the journal is refused before any shard is connected, except in `svc dev` and for ignored components.
import { slicesOf } from '../shards/hash-ownership.ts';
import type { JournalConnection } from '../storage/journal-connection.ts';
import type { JournalLocation } from '../storage/journal-location.ts';
import type { SvcError } from '@svc/kit/svc-error';
import type { JournalSeries } from '../storage/journal-series.ts';
import type { OpenedJournal } from '../storage/opened-journal.ts';
import { type JournalOpening, type JournalUser, openJournalFor } from './journal-opening.ts';

export interface ServiceJournalOptions extends Pick<
  JournalOpening,
  | 'limits'
  | 'isExclusive'
  | 'timerLimits'
  | 'series'
  | 'warn'
  | 'open'
  | 'ignoreComponents'
  | 'upgrade'
> {
  readonly location: JournalLocation;
  /** The module that the journal is opened for. */
  readonly source: Promise<JournalUser>;
  /** Called if the writer ends unexpectedly: the service can store nothing any more. */
  readonly onFailure: (failure: SvcError) => void;
}

export class ServiceJournal {
  readonly location: JournalLocation;
  readonly series: JournalSeries;
  /** Resolves once the journal is open; stays pending if it is never opened. */
  readonly opened: Promise<OpenedJournal>;
  readonly #options: ServiceJournalOptions;
  readonly #opened = Promise.withResolvers<OpenedJournal>();
  #opening: Promise<OpenedJournal> | undefined;

  constructor(options: ServiceJournalOptions) {
    this.#options = options;
    this.location = options.location;
    this.series = options.series;
    this.opened = this.#opened.promise;
  }

  /**
   * Connects one of the shards to the journal, which the first call opens. Rejects with the errors of opening it: SVC_DATA_…,
   * SVC_DISK_FULL, SVC_JOURNAL_…, SVC_MANIFEST_UNREADABLE and SVC_UPGRADE_UNSAFE, or with the reason why the module was refused.
   */
  async connect(shard: number, shards: number): Promise<JournalConnection> {
    const journal = await (this.#opening ??= this.#open());
    const { first, count } = slicesOf(shard, shards);
    return journal.connect([first, count]);
  }

  /** Closes the journal if it was opened. */
  async close(): Promise<void> {
    // If opening fails, there is nothing to close.
    const journal = await this.#opening?.catch(() => undefined);
    await journal?.close();
  }

  async #open(): Promise<OpenedJournal> {
    const { source, onFailure, ...opening } = this.#options;
    const { location } = this;
    const journal = await openJournalFor(await source, { ...opening, location });
    void journal.failure.then(onFailure);
    this.#opened.resolve(journal);
    return journal;
  }
}
