// OpenedJournal is a journal as the composition of a service has it, which opens it: the threads of the service get connections to
// it, and what belongs to no entity is written through it. At most one process has a journal open.
import type { Position } from '../engine/needs/feed.ts';
import type { ConsumerWriter, StoredConsumer } from '../engine/needs/consumers.ts';
import type { Awaitable } from '@svc/model/call';
import type { SvcError } from '@svc/kit/svc-error';
import type { TimerLimits } from '@svc/model/timer-limits';
import type { ClusterMembership, RunningModule } from './cluster-nodes.ts';
import type { FollowerConnection } from './follower-connection.ts';
import type { JournalConnection } from './journal-connection.ts';
import type { JournalContents } from './journal-contents.ts';
import type { JournalLimits } from './journal-limits.ts';
import type { JournalInDatabase, JournalLocation } from './journal-location.ts';
import type { LaneAdministration } from './lane-administration.ts';
import type { JournalSeries } from './journal-series.ts';
import type { JournalStandby } from './journal-takeover.ts';
import { PostgresStandby } from './postgres/postgres-standby.ts';
import { SqliteStandby } from './sqlite/sqlite-standby.ts';
import { openSqliteJournal } from './sqlite/sqlite-journal.ts';
import type { TimerAdministration } from './timer-administration.ts';

export interface OpenedJournal extends JournalContents, TimerAdministration, ConsumerWriter {
  /** Why nothing can be stored or answered now, as a sentence; undefined: it can. It may pass by itself. */
  readonly problem?: string | undefined;
  /** The runs of the runtime that write the journal together; absent: there is only this one. */
  readonly cluster?: ClusterMembership;
  /** Changes stored lanes of consumers, also those that other processes deliver; absent: the consumers of this process change theirs. */
  readonly lanes?: LaneAdministration;
  /** Resolves when the journal's writer ends by itself: nothing can be written any more. */
  readonly failure: Promise<SvcError>;
  /** The data with which a thread follows the journal. */
  readonly followerConnection: FollowerConnection;
  /** Shared memory of the alarm that wakes the thread that fires timers (timer-alarm.ts). */
  readonly alarm: SharedArrayBuffer;
  /** Resolves once there may be timers: at once if the journal had some, otherwise when the first one is stored. */
  timersExist(): Promise<void>;
  /** Returns the position of the last record that is stored. */
  lastPosition(): Awaitable<Position>;
  /**
   * Makes a connection for `attachJournal`, in this thread or, posted with its ports, in another one. `slices`: those of the
   * entities that are written through the connection, the first one and how many; no other connection writes them.
   */
  connect(slices: readonly [first: number, count: number]): JournalConnection;
  /** Returns the data with which a thread delivers those events to consumers that this node delivers now. A later call ends its use. */
  connectConsumers(): FollowerConnection;
  /** Stores that a consumer begins at a position, unless it has begun before. Rejects as `settleConsumer` does. */
  beginConsumer(consumer: Pick<StoredConsumer, 'id' | 'start'>, position: Position): Promise<void>;
  /** Names the socket by which tools of this machine reach this host. */
  nameControlSocket(path: string): void;
  /** Stores what was sent, closes the ports, and lets another process open the journal. */
  close(): Promise<void>;
}

export interface WriterSettings {
  readonly limits: JournalLimits;
  readonly timerLimits: TimerLimits;
  /** Receives the counts of the writer. */
  readonly series: JournalSeries;
  /** Fingerprint of the module that is going to use the journal; empty: none does. */
  readonly fingerprint: string;
  /** Whether no other run of the runtime may use the journal meanwhile. Nobody else can use one in a folder in any case. */
  readonly isExclusive: boolean;
  /**
   * Compares the module with one that other runs of the runtime have, before this one uses the journal. Throws SvcError if the two cannot
   * run at the same time. Absent: the journal is not used beside another module.
   */
  readonly admit?: ((running: RunningModule) => void) | undefined;
  /** Receives what an operator should know of a journal that can be used, as a sentence. */
  readonly warn?: (message: string) => void;
}

/**
 * Opens a journal, which is made if it is missing, and starts its writer. What is stored is checked before anything is changed.
 * Rejects with SVC_DATA_UNUSABLE, SVC_DISK_FULL, SVC_DATA_IN_USE, SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT, SVC_JOURNAL_UNAVAILABLE, and
 * as `admit` does.
 */
export function openJournal(
  location: JournalLocation,
  settings: WriterSettings,
): Promise<OpenedJournal> {
  const { limits, timerLimits, series } = settings;
  switch (location.kind) {
    case 'folder':
      return openSqliteJournal(location.dir, limits, { timerLimits, series });
    case 'postgres':
      return openInDatabase(location, settings);
  }
}

/** Starts the writer of a journal that another process may still have open. */
export function standByJournal(
  location: JournalLocation,
  settings: Omit<WriterSettings, 'fingerprint' | 'isExclusive'>,
): JournalStandby<OpenedJournal> {
  const { limits, timerLimits, series } = settings;
  switch (location.kind) {
    case 'folder':
      return new SqliteStandby(location.dir, limits, { timerLimits, series });
    case 'postgres':
      return new PostgresStandby(location, settings);
  }
}

/** Services with a folder do not load this code. */
async function openInDatabase(
  location: JournalInDatabase,
  settings: WriterSettings,
): Promise<OpenedJournal> {
  const { openPostgresJournal } = await import('./postgres/opened-postgres.ts');
  return openPostgresJournal(location, settings);
}
