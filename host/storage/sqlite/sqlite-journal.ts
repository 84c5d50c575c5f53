// SqliteJournal is the journal in a data folder, for the thread that opens it. It owns the folder's lock and the thread
// of the writer (writer-thread.ts); threads that use the journal attach to it (attached-journal.ts).
import assert from 'node:assert';
import { MessageChannel } from 'node:worker_threads';
import { SvcError } from '@svc/kit/svc-error';
import { type DataFolder, openDataFolder } from './data-folder.ts';
import { journalPath } from './journal-file.ts';
import { JOURNAL_LIMITS_DEFAULT, type JournalLimits } from '../journal-limits.ts';
import { TIMER_LIMITS_DEFAULT, type TimerLimits } from '@svc/model/timer-limits';
import { JournalSeries } from '../journal-series.ts';
import type { EntityRef } from '@svc/model/entity';
import type { ServiceSchedule, TimerAdministration } from '../timer-administration.ts';
import type { ConsumerRequest } from './consumer-requests.ts';
import type { TimerRequest } from './timer-requests.ts';
import type {
  ConsumerSettlement,
  ConsumerWriter,
  StoredConsumer,
} from '../../engine/needs/consumers.ts';
import type { Position } from '../../engine/needs/feed.ts';
import type { JournalContents, StoredEventType, WritingModule } from '../journal-contents.ts';
import type { JournalFolder } from '../journal-location.ts';
import { LEVEL_SIZES_DEFAULT, type LevelSizes } from './index-compaction.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import { WriterThread } from './writer-thread.ts';
import { SqlitePositions } from './sqlite-positions.ts';
import { readEventTypes } from './stored-event-types.ts';

export interface JournalOptions {
  readonly levelSizes?: LevelSizes | undefined;
  readonly timerLimits?: TimerLimits | undefined;
  /** Receives the counts of the writer. */
  readonly series?: JournalSeries;
}

/**
 * Locks the data folder for this process (a missing one is created) and starts the journal's writer. It checks what is
 * on disk before it changes anything. Rejects with SVC_DATA_UNUSABLE, SVC_DISK_FULL, SVC_DATA_IN_USE,
 * SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT, SVC_JOURNAL_UNAVAILABLE.
 */
export async function openSqliteJournal(
  dir: string,
  limits: Pick<JournalLimits, 'bytesMax'> = JOURNAL_LIMITS_DEFAULT,
  {
    levelSizes = LEVEL_SIZES_DEFAULT,
    timerLimits = TIMER_LIMITS_DEFAULT,
    series = new JournalSeries(),
  }: JournalOptions = {},
): Promise<SqliteJournal> {
  const folder = openDataFolder(dir);
  try {
    const parts = { limits, timerLimits, levelSizes, series };
    return await SqliteJournal.start(folder, new WriterThread(folder.dir, parts));
  } catch (error) {
    folder.close();
    throw error;
  }
}

export class SqliteJournal implements JournalContents, TimerAdministration, ConsumerWriter {
  readonly #folder: DataFolder;
  readonly #writer: WriterThread;
  /** Whether there may have been timers when the journal was opened. */
  #hasTimers = false;
  /** Resolves when the writer's thread ends by itself: nothing can be written any more. */
  readonly failure: Promise<SvcError>;
  #closed: Promise<void> | undefined = undefined;

  /** Opens the journal in a locked folder, with a thread that was started for this folder. Rejects as `openSqliteJournal` does. */
  static async start(folder: DataFolder, writer: WriterThread): Promise<SqliteJournal> {
    const journal = new SqliteJournal(folder, writer);
    const report = await Promise.race([journal.failure, writer.open()]);
    if (report instanceof SvcError) throw report;
    if (report.kind === 'ready') {
      journal.#hasTimers = report.hasTimers;
      return journal;
    }
    await writer.end();
    assert(report.kind === 'failed');
    throw new SvcError(report.code, report.message);
  }

  private constructor(folder: DataFolder, writer: WriterThread) {
    this.#folder = folder;
    this.#writer = writer;
    this.failure = new Promise((resolve) => {
      void writer.ended.then(({ cause }) => {
        if (this.#closed === undefined) resolve(writerEnded(folder.dir, cause));
      });
    });
  }

  /** Shared memory of the position of the last record that is on disk, for followers of the journal. */
  get end(): SharedArrayBuffer {
    return this.#writer.journalEnd.shared;
  }

  /** Shared memory of the alarm that wakes the thread that fires timers (storage/timer-alarm.ts). */
  get alarm(): SharedArrayBuffer {
    return this.#writer.alarm.shared;
  }

  /** Resolves once there may be timers: at once if the journal had some, otherwise when the first one is stored. */
  async timersExist(): Promise<void> {
    if (!this.#hasTimers) await this.#writer.alarm.changed(0);
  }

  /** The data with which a thread follows the journal. */
  beginConsumer(consumer: Pick<StoredConsumer, 'id' | 'start'>, position: Position): Promise<void> {
    return this.settleConsumer(consumer, { position, lanes: [], rejoined: [] });
  }

  connectConsumers(): Pick<SqliteConnection, 'kind' | 'dir' | 'end'> {
    return this.followerConnection;
  }

  get followerConnection(): Pick<SqliteConnection, 'kind' | 'dir' | 'end'> {
    return { kind: 'sqlite', dir: this.dir, end: this.end };
  }

  get dir(): string {
    return this.#folder.dir;
  }

  get location(): JournalFolder {
    return { kind: 'folder', dir: this.dir };
  }

  lastPosition(): Position {
    return new SqlitePositions(this.end).end();
  }

  /** Names the socket by which tools reach this host, in the data folder. */
  nameControlSocket(path: string): void {
    this.#folder.nameControlSocket(path);
  }

  /**
   * Makes a connection for `attachJournal`, in this thread or, posted with its ports, in another one. Its port is
   * closed if the writer's thread has ended.
   */
  connect(): SqliteConnection {
    const { port1, port2 } = new MessageChannel();
    const connection: SqliteConnection = {
      kind: 'sqlite',
      dir: this.dir,
      end: this.end,
      ports: [port1],
    };
    if (this.#writer.hasEnded) {
      port2.close();
      return connection;
    }
    this.#writer.send({ kind: 'connect' }, port2);
    return connection;
  }

  eventTypes(): readonly StoredEventType[] {
    return readEventTypes(journalPath(this.dir));
  }

  noteModule(module: WritingModule): void {
    this.#writer.send({ kind: 'note-module', module });
  }

  async reconcileSchedules(schedules: readonly ServiceSchedule[], nowMs: number): Promise<void> {
    await this.#request({ kind: 'reconcile-schedules', schedules, nowMs });
  }

  cancelTimer(owner: EntityRef | undefined, name: string): Promise<boolean> {
    return this.#request({ kind: 'cancel-timer', owner, name });
  }

  retryTimer(owner: EntityRef | undefined, name: string, nowMs: number): Promise<boolean> {
    return this.#request({ kind: 'retry-timer', owner, name, nowMs });
  }

  async settleConsumer(
    consumer: Pick<StoredConsumer, 'id' | 'start'>,
    settlement: ConsumerSettlement,
  ): Promise<void> {
    await this.#request({ kind: 'settle-consumer', consumer, settlement });
  }

  /** Sends a request to the writer, and waits for its answer. */
  async #request(request: TimerRequest | ConsumerRequest): Promise<boolean> {
    const outcome = await this.#writer.request(request);
    if (outcome === undefined) throw writerEnded(this.dir, undefined);
    if (typeof outcome === 'boolean') return outcome;
    throw new SvcError(outcome.code, outcome.message);
  }

  /** Stores what was sent, closes the ports, and releases the folder for another host. */
  close(): Promise<void> {
    this.#closed ??= this.#stop();
    return this.#closed;
  }

  async #stop(): Promise<void> {
    this.#writer.send({ kind: 'close' });
    await this.#writer.ended;
    this.#folder.close();
  }
}

function writerEnded(dir: string, cause: unknown): SvcError {
  return new SvcError(
    'SVC_JOURNAL_UNAVAILABLE',
    `The writer of the journal in ${dir} has ended. Start the service again; ` +
      'whether the last commands were stored is unknown.',
    { cause },
  );
}
