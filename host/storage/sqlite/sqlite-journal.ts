// SqliteJournal is the journal in a data folder, for the thread that opens it. It owns the folder's lock and the thread
// of the writer; threads that use the journal attach to it (attached-journal.ts).
import assert from 'node:assert';
import { MessageChannel, Worker } from 'node:worker_threads';
import { SvcError } from '@svc/kit/svc-error';
import { type DataFolder, openDataFolder } from './data-folder.ts';
import { journalPath } from './journal-file.ts';
import { JOURNAL_LIMITS_DEFAULT, type JournalLimits } from './journal-limits.ts';
import { JournalEnd } from '../journal-end.ts';
import { TIMER_LIMITS_DEFAULT, type TimerLimits } from '../../model/timer-limits.ts';
import { TimerAlarm } from '../timer-alarm.ts';
import { JournalSeries } from '../journal-series.ts';
import type { EntityRef } from '../../model/entity.ts';
import type { RequestAnswered, WriterCommand, WriterReport } from './journal-message.ts';
import type { ServiceSchedule, TimerAdministration } from '../timer-administration.ts';
import type { ConsumerRequest } from './consumer-requests.ts';
import type { TimerRequest } from './timer-requests.ts';
import type {
  ConsumerSettlement,
  ConsumerWriter,
  StoredConsumer,
} from '../../engine/needs/consumers.ts';
import type { JournalContents, StoredEventType, WritingModule } from '../journal-contents.ts';
import { LEVEL_SIZES_DEFAULT, type LevelSizes } from './index-compaction.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
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
  limits: JournalLimits = JOURNAL_LIMITS_DEFAULT,
  {
    levelSizes = LEVEL_SIZES_DEFAULT,
    timerLimits = TIMER_LIMITS_DEFAULT,
    series = new JournalSeries(),
  }: JournalOptions = {},
): Promise<SqliteJournal> {
  const folder = openDataFolder(dir);
  try {
    return await SqliteJournal.start(folder, { limits, timerLimits, levelSizes, series });
  } catch (error) {
    folder.close();
    throw error;
  }
}

interface JournalParts {
  readonly limits: JournalLimits;
  readonly timerLimits: TimerLimits;
  readonly levelSizes: LevelSizes;
  readonly series: JournalSeries;
}

export class SqliteJournal implements JournalContents, TimerAdministration, ConsumerWriter {
  readonly #folder: DataFolder;
  readonly #writer: Worker;
  readonly #end: JournalEnd;
  readonly #alarm: TimerAlarm;
  /** Whether there may have been timers when the journal was opened. */
  #hasTimers = false;
  /** Number of the last request that was sent to the writer. */
  #lastRequest = 0;
  readonly #ended: Promise<void>;
  /** Resolves when the writer's thread ends by itself: nothing can be written any more. */
  readonly failure: Promise<SvcError>;
  #closed: Promise<void> | undefined = undefined;
  #hasEnded = false;

  static async start(
    folder: DataFolder,
    { limits, timerLimits, levelSizes, series }: JournalParts,
  ): Promise<SqliteJournal> {
    const end = new JournalEnd();
    const alarm = new TimerAlarm();
    const writer = new Worker(new URL('./journal-writer.ts', import.meta.url), {
      name: 'journal writer',
      workerData: {
        path: journalPath(folder.dir),
        limits,
        timerLimits,
        levelSizes,
        series: series.shared,
        end: end.shared,
        alarm: alarm.shared,
      },
    });
    const journal = new SqliteJournal(folder, writer, end, alarm);
    const report = await Promise.race([
      journal.failure,
      new Promise<WriterReport>((resolve) => {
        writer.once('message', resolve);
      }),
    ]);
    if (report instanceof SvcError) throw report;
    if (report.kind === 'ready') {
      journal.#hasTimers = report.hasTimers;
      return journal;
    }
    await writer.terminate();
    assert(report.kind === 'failed');
    throw new SvcError(report.code, report.message);
  }

  private constructor(folder: DataFolder, writer: Worker, end: JournalEnd, alarm: TimerAlarm) {
    this.#folder = folder;
    this.#writer = writer;
    this.#end = end;
    this.#alarm = alarm;
    let cause: unknown;
    writer.on('error', (error) => {
      cause = error;
    });
    this.#ended = new Promise((resolve) => {
      writer.once('exit', () => {
        this.#hasEnded = true;
        resolve();
      });
    });
    this.failure = new Promise((resolve) => {
      writer.once('exit', () => {
        if (this.#closed === undefined) resolve(writerEnded(folder.dir, cause));
      });
    });
  }

  /** Shared memory of the position of the last record that is on disk, for followers of the journal. */
  get end(): SharedArrayBuffer {
    return this.#end.shared;
  }

  /** Shared memory of the alarm that wakes the thread that fires timers (storage/timer-alarm.ts). */
  get alarm(): SharedArrayBuffer {
    return this.#alarm.shared;
  }

  /** Resolves once there may be timers: at once if the journal had some, otherwise when the first one is stored. */
  async timersExist(): Promise<void> {
    if (!this.#hasTimers) await this.#alarm.changed(0);
  }

  /** The data with which a thread follows the journal. */
  get followerConnection(): Pick<SqliteConnection, 'kind' | 'dir' | 'end'> {
    return { kind: 'sqlite', dir: this.dir, end: this.end };
  }

  get dir(): string {
    return this.#folder.dir;
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
      end: this.#end.shared,
      ports: [port1],
    };
    if (this.#hasEnded) {
      port2.close();
      return connection;
    }
    const command: WriterCommand = { kind: 'connect' };
    this.#writer.postMessage({ ...command, port: port2 }, [port2]);
    return connection;
  }

  eventTypes(): readonly StoredEventType[] {
    return readEventTypes(journalPath(this.dir));
  }

  noteModule(module: WritingModule): void {
    const command: WriterCommand = { kind: 'note-module', module };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
    this.#writer.postMessage(command);
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
    const number = ++this.#lastRequest;
    const answered = Promise.withResolvers<RequestAnswered['outcome']>();
    const receive = (report: WriterReport): void => {
      if (report.kind === 'request-answered' && report.number === number)
        answered.resolve(report.outcome);
    };
    this.#writer.on('message', receive);
    try {
      const command: WriterCommand = { kind: 'request', number, request };
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
      this.#writer.postMessage(command);
      const outcome = await Promise.race([answered.promise, this.#ended]);
      if (outcome === undefined) throw writerEnded(this.dir, undefined);
      if (typeof outcome === 'boolean') return outcome;
      throw new SvcError(outcome.code, outcome.message);
    } finally {
      this.#writer.off('message', receive);
    }
  }

  /** Stores what was sent, closes the ports, and releases the folder for another host. */
  close(): Promise<void> {
    this.#closed ??= this.#stop();
    return this.#closed;
  }

  async #stop(): Promise<void> {
    const command: WriterCommand = { kind: 'close' };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
    this.#writer.postMessage(command);
    await this.#ended;
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
