// Standby is the part of a service's start in which another process may still use the data folder: everything that needs no
// folder is made ready, the folder's lock is tried, and then the journal is opened.
//
// Invariants
// W1  The folder is not locked before the module is admitted and started, the writer's thread runs, and the check of the
//     journal has passed: a service that could not serve does not take the folder from one that does.
// W2  From the lock on the service has `readyWithinMs` until it serves. Then it ends, so that another one can have the folder.
import { SvcError } from '@svc/kit/svc-error';
import type { JournalStandby } from '../storage/journal-takeover.ts';
import type { OpenedJournal } from '../storage/opened-journal.ts';
import type { StandbySettings } from './standby-settings.ts';

export interface StandbyOptions {
  readonly settings: StandbySettings;
  /** Number of shards that have to start their guest before the folder is locked. */
  readonly shards: number;
  /** Starts the writer's thread. */
  readonly openJournal: () => JournalStandby<OpenedJournal>;
  /** Checks the journal, which is only read. */
  readonly check: () => Promise<void>;
  /** Ends the wait for the folder. */
  readonly signal: AbortSignal;
  /** Called once only the data folder is missing. */
  readonly onPrepared: () => void;
  /** Called if the service does not serve in time. */
  readonly onLate: (error: SvcError) => void;
}

export class Standby {
  readonly #options: StandbyOptions;
  readonly #shardsStarted = Promise.withResolvers<void>();
  #startedCount = 0;
  #journal: JournalStandby<OpenedJournal> | undefined;
  #late: NodeJS.Timeout | undefined;
  #isPrepared = false;

  constructor(options: StandbyOptions) {
    this.#options = options;
  }

  /** Whether the service waits for the data folder and for nothing else. */
  get isPrepared(): boolean {
    return this.#isPrepared;
  }

  /** Starts the thread that is going to write the journal. */
  start(): void {
    this.#journal = this.#options.openJournal();
  }

  /** Called when a shard has started its guest, and needs the journal next. */
  shardStarted(): void {
    if (++this.#startedCount === this.#options.shards) this.#shardsStarted.resolve();
  }

  /** Opens the journal once its folder is free. Rejects with the errors of the check and of opening, and with the signal's reason. */
  async open(fingerprint: string): Promise<OpenedJournal> {
    const { settings, check, signal, onPrepared } = this.#options;
    await check();
    await this.#shardsStarted.promise;
    signal.throwIfAborted();
    this.#isPrepared = true;
    onPrepared();
    try {
      return await this.#journal!.open({
        tryIntervalMs: settings.tryIntervalMs,
        signal,
        fingerprint,
        onLocked: () => {
          this.#isPrepared = false;
          this.#late = setTimeout(() => this.#isLate(), settings.readyWithinMs);
        },
      });
    } finally {
      this.#isPrepared = false;
    }
  }

  /** Called once the service serves. */
  served(): void {
    clearTimeout(this.#late);
  }

  /** Stops the clock, and the writer's thread if the journal was not opened. */
  async close(): Promise<void> {
    clearTimeout(this.#late);
    await this.#journal?.close();
  }

  #isLate(): void {
    const { settings, onLate } = this.#options;
    onLate(
      new SvcError(
        'SVC_STANDBY_TIMED_OUT',
        `The service took the data folder over and did not serve within ${settings.readyWithinMs} ms ` +
          '(svc.standby.ready-within-ms). It ended, so that the version before can be started again.',
      ),
    );
  }
}
