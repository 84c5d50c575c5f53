// EmbeddedStorage: the journal of an embedded service, in a folder, in a database or in memory. The journal is in memory
// only if the program asks for it.
import type { ServiceClock } from '../engine/needs/clock.ts';
import type { ConsumerWriter } from '../engine/needs/consumers.ts';
import type { Feed } from '../engine/needs/feed.ts';
import type { Journal } from '../engine/needs/journal.ts';
import type { Leases } from '../engine/needs/leases.ts';
import type { ViewStore } from '../engine/needs/views.ts';
import type { ViewLimits } from '@svc/model/view-limits';
import type { TimerLimits } from '@svc/model/timer-limits';
import type { Awaitable } from '@svc/model/call';
import { SLICE_COUNT } from '@svc/model/slice';
import { SvcError } from '@svc/kit/svc-error';
import {
  type ConsumerState,
  openConsumerState,
  openFeed,
  openViews,
} from '../storage/follower-connection.ts';
import type { ClusterMembership } from '../storage/cluster-nodes.ts';
import { attachJournal, leasesOf } from '../storage/journal-connection.ts';
import type { JournalLimits } from '../storage/journal-limits.ts';
import type { JournalLocation } from '../storage/journal-location.ts';
import { systemClock } from '../system.ts';
import { JournalSeries } from '../storage/journal-series.ts';
import type { TimerAdministration } from '../storage/timer-administration.ts';
import { MemoryJournal } from '../storage/memory/memory-journal.ts';
import type { TestJournal } from '../storage/memory/test-journal.ts';
import { MemoryViews } from '../storage/memory/memory-views.ts';
import type { OpenedJournal } from '../storage/opened-journal.ts';
import type { EmbeddedSections } from './embedded-settings.ts';
import { type JournalOpening, type JournalUser, openJournalFor } from './journal-opening.ts';
import { type JournalTimers, storedTimers, timersInMemory } from './journal-timers.ts';
import { serviceSchedules } from './service-schedules.ts';
import { locationOf, type StorageOptions } from './storage-options.ts';
import type { TestingOptions } from './testing-options.ts';
import { timedConsumers, timedJournal } from './timed-journal.ts';
import type { UnknownTypesWords } from './unknown-event-types.ts';

type TestedStorageOptions = StorageOptions & { readonly testing?: TestingOptions };
type StorageSections = Pick<EmbeddedSections, 'journal' | 'timers' | 'engine'>;
type StoredOpening = Partial<Pick<JournalOpening, 'open' | 'ignoreComponents' | 'warn'>>;

/** The part of a journal that the consumers read and write. */
export interface ConsumedStorage {
  readonly state: ConsumerState;
  readonly writer: ConsumerWriter;
  /** Calls a listener after operators have changed stored lanes by another process. */
  readonly onWork: (listener: () => void) => void;
}

export class EmbeddedStorage {
  /** Undefined if the journal is in memory. */
  readonly location: JournalLocation | undefined;
  /** Counts of the journal's writer. */
  readonly series = new JournalSeries();
  /** Resolves if the journal's writer ends unexpectedly. */
  readonly failure: Promise<SvcError>;
  /** Journal of a test; undefined: the service has its own. */
  readonly #tested: TestJournal | undefined;
  readonly #clock: ServiceClock | undefined;
  readonly #hold: ServiceClock['hold'];
  readonly #limits: JournalLimits;
  readonly #timerLimits: TimerLimits;
  /** How old replies to idempotency keys may be, in milliseconds. */
  readonly #retentionMs: number;
  readonly #ignoreComponents: readonly string[];
  readonly #failure = Promise.withResolvers<SvcError>();
  #stored: OpenedJournal | undefined;
  #memory: MemoryJournal | undefined;
  #journal: Journal | undefined;
  #timers: JournalTimers | undefined;
  #leases: Leases | undefined;

  /** Throws SVC_SETTING_INVALID unless the options name one location: a folder, a database or memory. */
  constructor(options: TestedStorageOptions, { journal: limits, timers, engine }: StorageSections) {
    this.location = locationOf(options);
    const { clock, journal } = options.testing ?? {};
    if (journal !== undefined && this.location !== undefined) throw notInMemory();
    this.#tested = journal;
    this.#clock = clock;
    this.#hold = clock?.hold && (() => clock.hold!());
    this.#limits = limits;
    this.#timerLimits = timers;
    this.#retentionMs = engine.idempotencyRetentionMs;
    const { ignoreComponents = [] } = options as { readonly ignoreComponents?: readonly string[] };
    this.#ignoreComponents = ignoreComponents;
    this.failure = this.#failure.promise;
  }

  /**
   * Opens the journal for the program. `opening`: how a stored one is opened, where it is not opened at once and as the
   * options say. Rejects as `openJournalFor` does.
   */
  async open(program: JournalUser, opening: StoredOpening = {}): Promise<Journal> {
    this.#journal =
      this.location === undefined
        ? await this.#inMemory(program)
        : await this.#attach(program, this.location, opening);
    return this.#journal;
  }

  /** Leases of the entities; undefined: nobody else can write them. Call it once the journal is open. */
  get leases(): Leases | undefined {
    return this.#leases;
  }

  /** The cluster, of which the service is the only node; undefined if the journal is in no database, or not open yet. */
  get cluster(): ClusterMembership | undefined {
    return this.#stored?.cluster;
  }

  /** Why nothing can be stored or answered now, as a sentence; undefined: it can. */
  get problem(): string | undefined {
    return this.#stored?.problem;
  }

  /** The timers of the journal. Call it once the journal is open. */
  get timers(): JournalTimers {
    return this.#timers!;
  }

  /** Changes timers of the journal, which is open. */
  get timerAdministration(): TimerAdministration {
    return this.#memory ?? this.#stored!;
  }

  /** Opens a feed of the journal, which is open. Throws SVC_JOURNAL_CORRUPT or SVC_JOURNAL_UNAVAILABLE. */
  feed(): Awaitable<Feed> {
    return this.#memory?.feed() ?? openFeed(this.#stored!.followerConnection);
  }

  /** Opens what the consumers read and write of the journal, which is open. Throws as `feed` does. */
  async consumers(): Promise<ConsumedStorage> {
    const memory = this.#memory;
    const stored = this.#stored;
    if (memory === undefined)
      return {
        state: await openConsumerState(stored!.followerConnection),
        writer: this.#hold === undefined ? stored! : timedConsumers(stored!, this.#hold),
        onWork: (listener) => stored!.cluster?.onWork(listener),
      };
    const { consumers } = memory;
    const state: ConsumerState = {
      consumer: (id) => consumers.consumer(id),
      lanes: (...page) => consumers.lanes(...page),
      read: (...page) => memory.read(...page),
      close() {},
    };
    // Nobody else changes it.
    return { state, writer: memory, onWork: () => undefined };
  }

  /** Returns the store of the views' rows. Call it once the journal is open. */
  views(limits: ViewLimits): Awaitable<ViewStore> {
    return this.#memory === undefined
      ? openViews(this.#stored!.followerConnection, limits)
      : new MemoryViews(limits);
  }

  /** Waits until all appends are stored, and releases the folder, or the slices in the database. */
  async close(): Promise<void> {
    await this.#journal?.close();
    await this.#stored?.close();
  }

  async #inMemory({ descriptor }: JournalUser): Promise<Journal> {
    const journal = this.#openInMemory();
    this.#memory = journal;
    const clock = this.#clock ?? systemClock;
    await journal.reconcileSchedules(serviceSchedules(descriptor), clock.nowMs());
    this.#timers = timersInMemory(journal, this.#clock);
    return journal;
  }

  #openInMemory(): MemoryJournal {
    const timerLimits = this.#timerLimits;
    if (this.#tested === undefined) return new MemoryJournal({ timerLimits });
    const { journal, failure } = this.#tested.open(timerLimits);
    void failure.then(this.#failure.resolve);
    return journal;
  }

  async #attach(
    program: JournalUser,
    location: JournalLocation,
    opening: StoredOpening,
  ): Promise<Journal> {
    this.#stored = await openJournalFor(program, {
      location,
      limits: this.#limits,
      timerLimits: this.#timerLimits,
      series: this.series,
      ignoreComponents: this.#ignoreComponents,
      words: PROGRAM_WORDS,
      clock: this.#clock,
      ...opening,
    });
    void this.#stored.failure.then(this.#failure.resolve);
    this.#timers = storedTimers(this.#stored, this.#clock);
    const connection = this.#stored.connect(ALL_SLICES);
    this.#leases = leasesOf(connection);
    const journal = await attachJournal(connection, this.#retentionMs);
    return this.#hold === undefined ? journal : timedJournal(journal, this.#hold);
  }
}

/** The embedded service writes all entities in one thread. */
const ALL_SLICES = [0, SLICE_COUNT] as const;

/** Texts of the error for events that no component of the program reads. */
export const PROGRAM_WORDS: UnknownTypesWords = {
  readers: 'of this program',
  remedy: (components) =>
    `Give it the component that reads them, or ignoreComponents: ${JSON.stringify(components)} when that is meant.`,
};

function notInMemory(): SvcError {
  return new SvcError(
    'SVC_SETTING_INVALID',
    "The option testing.journal is a journal in memory: write journal: 'memory' beside it, and leave out dataFolder and database.",
  );
}
