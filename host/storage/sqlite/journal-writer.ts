// JournalWriter is the thread that stores what the users of the journal send. It commits everything that has queued up
// in one transaction and then reports. While it waits for the disk, the next batch queues up, so it needs no timer.
import assert from 'node:assert';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import {
  type MessagePort,
  parentPort,
  receiveMessageOnPort,
  workerData,
} from 'node:worker_threads';
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';
import { type AppendGate, GroupCommit } from './group-commit.ts';
import { LOCK_WAIT_MS, openForWriting } from './journal-file.ts';
import type { JournalLimits } from '../journal-limits.ts';
import type {
  Append,
  AppendFailure,
  FromUser,
  RequestAnswered,
  SentSnapshot,
  Settlement,
  WriterCommand,
  WriterReport,
} from './journal-message.ts';
import { decodeAppends } from './journal-message.ts';
import { JournalQuota } from './journal-quota.ts';
import { JournalEnd } from '../journal-end.ts';
import { TimerAlarm } from '../timer-alarm.ts';
import type { TimerLimits } from '@svc/model/timer-limits';
import { JournalSeries, type SharedJournalSeries } from '../journal-series.ts';
import { LogCheckpoint } from './log-checkpoint.ts';
import type { WritingModule } from '../journal-contents.ts';
import { noteModule } from './module-history.ts';
import { checkIndexEntries } from './index-check.ts';
import { IndexCompaction, type LevelSizes } from './index-compaction.ts';
import { snapshotPath } from './snapshot-file.ts';
import { SnapshotWriter } from './snapshot-writer.ts';
import { journalFailure } from './sqlite-failure.ts';
import { type ConsumerRequest, ConsumerRequests } from './consumer-requests.ts';
import { type TimerRequest, TimerRequests } from './timer-requests.ts';
import { StoredTimers } from './stored-timers.ts';
import { Occurrences } from '../../schedule/occurrences.ts';

/** Maximum number of appends in one transaction; the last batch is not split, so it may exceed this number. */
const APPENDS_PER_TRANSACTION = 4_096;
/** Minimum time between two measurements of the journal's size, in milliseconds. */
const MEASURE_MS = 1_000;

/**
 * User is a thread attached to the journal, as the writer sees it. After a failed append of an entity, the user's later
 * appends of that entity depend on a state that does not exist, until the user has seen the failure: they fail, even if
 * their numbers would fit. Detached appends depend on no state.
 */
class User implements AppendGate {
  readonly #port: MessagePort;
  #settledCount = 0;
  /**
   * Indexed by the entity's component and id: how many of the user's appends had settled once the entity's last failed
   * append had; Infinity until that append settles. The map is in the order of these numbers, so that failures that the
   * user has seen are at the front.
   */
  readonly #failures = new Map<string, number>();
  #outcomes: (SvcError | undefined)[] = [];
  readonly #snapshots: SentSnapshot[];

  /** `snapshots` receives the snapshots that the user sends. */
  constructor(port: MessagePort, snapshots: SentSnapshot[]) {
    this.#port = port;
    this.#snapshots = snapshots;
  }

  /** Returns the appends of the next batch that has arrived; undefined when none has. Collects snapshots before it. */
  next(): readonly Append[] | undefined {
    for (;;) {
      const received = receiveMessageOnPort(this.#port);
      if (received === undefined) return undefined;
      const message = received.message as FromUser;
      if (!('state' in message)) return decodeAppends(message);
      this.#snapshots.push(message);
    }
  }

  refusalOf({ seenCount, component, id, timers }: Append): SvcError | undefined {
    if (this.#failures.size === 0 || timers?.isDetached === true) return undefined;
    const failedCount = this.#failures.get(`${component}\n${id}`) ?? 0;
    if (seenCount >= failedCount) return undefined;
    return new SvcError(
      'SVC_JOURNAL_UNAVAILABLE',
      `A command on entity '${printable(id)}' of component '${printable(component)}' was not stored, ` +
        'because one before it was not. Try again.',
    );
  }

  failed({ component, id, timers }: Append): void {
    if (timers?.isDetached === true) return;
    // The user cannot have seen this failure before it settles.
    this.#failedAt(component, id, Infinity);
  }

  /** Notes the outcome of an append. Called in the order in which the appends arrived. */
  settle(append: Append, failure: SvcError | undefined): void {
    this.#settledCount++;
    this.#outcomes.push(failure);
    for (const [entity, count] of this.#failures) {
      if (append.seenCount < count) break;
      this.#failures.delete(entity);
    }
    if (failure !== undefined && append.timers?.isDetached !== true)
      this.#failedAt(append.component, append.id, this.#settledCount);
  }

  #failedAt(component: string, id: string, count: number): void {
    const entity = `${component}\n${id}`;
    this.#failures.delete(entity);
    this.#failures.set(entity, count);
  }

  /** Sends the first settlement, which has no appends. */
  greet(): void {
    this.#post([0, []]);
  }

  /** Sends the outcomes that were noted since the last report. */
  report(): void {
    const outcomes = this.#outcomes;
    if (outcomes.length === 0) return;
    this.#outcomes = [];
    const failures: AppendFailure[] = [];
    for (const [index, failure] of outcomes.entries())
      if (failure !== undefined) failures.push([index, failure.code, failure.message]);
    this.#post([outcomes.length, failures]);
  }

  #post(settlement: Settlement): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
    this.#port.postMessage(settlement);
  }

  close(): void {
    this.#port.close();
  }
}

/** The data that the writer's thread is started with. */
interface WriterData {
  readonly path: string;
  readonly limits: Pick<JournalLimits, 'bytesMax'>;
  readonly timerLimits: TimerLimits;
  readonly levelSizes: LevelSizes;
  readonly series: SharedJournalSeries;
  readonly end: SharedArrayBuffer;
  readonly alarm: SharedArrayBuffer;
}

class Writer {
  readonly #database: DatabaseSync;
  readonly #timers: StoredTimers;
  readonly #timerRequests: TimerRequests;
  readonly #consumerRequests: ConsumerRequests;
  readonly #commit: GroupCommit;
  readonly #compaction: IndexCompaction;
  readonly #log: LogCheckpoint;
  readonly #snapshots: SnapshotWriter;
  readonly #quota: JournalQuota;
  readonly #series: JournalSeries;
  readonly #end: JournalEnd;
  readonly #alarm: TimerAlarm;
  /** When the journal's size was last measured, in milliseconds of `performance.now`. */
  #measuredMs = -Infinity;
  /** Snapshots that wait until the appends that arrived with them are stored and reported. */
  readonly #arrivedSnapshots: SentSnapshot[] = [];
  readonly #users = new Set<User>();

  constructor(
    { path, limits: { bytesMax }, timerLimits, levelSizes, ...shared }: WriterData,
    series: JournalSeries,
  ) {
    this.#database = openForWriting(path);
    checkIndexEntries(this.#database, path);
    this.#quota = new JournalQuota(this.#database, path, bytesMax);
    this.#timers = new StoredTimers(this.#database, timerLimits, new Occurrences());
    this.#timerRequests = new TimerRequests(this.#database, path, this.#timers);
    this.#consumerRequests = new ConsumerRequests(this.#database, path);
    this.#commit = new GroupCommit(this.#database, path, this.#quota, this.#timers);
    this.#compaction = new IndexCompaction(this.#database, levelSizes);
    this.#log = new LogCheckpoint(this.#database, LOCK_WAIT_MS);
    this.#snapshots = new SnapshotWriter(snapshotPath(dirname(path)), this.#database);
    this.#series = series;
    this.#end = new JournalEnd(shared.end);
    this.#end.advance(this.#commit.lastPos);
    this.#alarm = new TimerAlarm(shared.alarm);
    this.#measure(performance.now());
  }

  /** Greets the new user once everything that earlier users sent is stored, so that the new user reads it. */
  connect(port: MessagePort): void {
    this.#storeArrived();
    const user = new User(port, this.#arrivedSnapshots);
    user.greet();
    this.#users.add(user);
    port.on('message', (message: FromUser) => {
      if (!('state' in message)) return this.#store(user, decodeAppends(message));
      this.#arrivedSnapshots.push(message);
      this.#keepSnapshots();
    });
    port.on('close', () => this.#users.delete(user));
  }

  /** Stores what a user sent, together with what has arrived from all users since. */
  #store(sender: User, first: readonly Append[]): void {
    const sinceMs = performance.now();
    const queued: { readonly append: Append; readonly gate: User }[] = [];
    for (const append of first) queued.push({ append, gate: sender });
    for (const gate of this.#users)
      while (queued.length < APPENDS_PER_TRANSACTION) {
        const batch = gate.next();
        if (batch === undefined) break;
        for (const append of batch) queued.push({ append, gate });
      }
    const lastPos = this.#commit.lastPos;
    const outcomes = this.#commit.store(queued);
    const storedMs = performance.now();
    // Before the reports, so that whoever knows that a record is stored finds it before the end.
    this.#end.advance(this.#commit.lastPos);
    this.#alarm.stored(this.#timers.takeEarliestMs());
    const records = this.#commit.lastPos - lastPos;
    // Counted before it is reported, so that the metrics contain every append that a user knows to be stored.
    this.#series.stored(queued.length, records, storedMs - sinceMs);
    for (const [index, { append, gate }] of queued.entries()) gate.settle(append, outcomes[index]);
    for (const gate of this.#users) gate.report();
    if (storedMs - this.#measuredMs > MEASURE_MS) this.#measure(storedMs);
    this.#compaction.stored(records);
    this.#log.keepShort();
    this.#keepSnapshots();
  }

  #measure(nowMs: number): void {
    this.#measuredMs = nowMs;
    this.#series.measured(this.#quota.measuredBytes());
  }

  #keepSnapshots(): void {
    this.#snapshots.keep(this.#arrivedSnapshots);
    this.#arrivedSnapshots.length = 0;
  }

  #storeArrived(): void {
    for (const user of this.#users)
      for (let batch = user.next(); batch !== undefined; batch = user.next())
        this.#store(user, batch);
  }

  /** Whether the journal has, or had, timers when it was opened. */
  get hasTimers(): boolean {
    return this.#timers.mayExist;
  }

  /** Carries out a request after everything that has arrived is stored. */
  carryOut(request: TimerRequest | ConsumerRequest): RequestAnswered['outcome'] {
    this.#storeArrived();
    const outcome =
      request.kind === 'settle-consumer'
        ? (this.#consumerRequests.carryOut(request) ?? true)
        : this.#changeTimers(request);
    if (!(outcome instanceof SvcError)) return outcome;
    const { code, message } = outcome;
    return { code, message };
  }

  #changeTimers(request: TimerRequest): boolean | SvcError {
    const outcome = this.#timerRequests.carryOut(request);
    this.#alarm.stored(this.#timers.takeEarliestMs());
    return outcome;
  }

  noteModule(module: WritingModule): void {
    noteModule(this.#database, module);
  }

  /** Stores what has arrived, and closes the ports of the users and the files. */
  close(): void {
    this.#storeArrived();
    this.#keepSnapshots();
    for (const user of this.#users) user.close();
    this.#snapshots.close();
    this.#database.close();
  }
}

function report(message: WriterReport): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
  parentPort?.postMessage(message);
}

function carryOut(writer: Writer, command: WriterCommand & { readonly port?: MessagePort }): void {
  switch (command.kind) {
    case 'connect':
      assert(command.port !== undefined);
      return writer.connect(command.port);
    case 'note-module':
      return writer.noteModule(command.module);
    case 'request': {
      const { number, request } = command;
      return report({ kind: 'request-answered', number, outcome: writer.carryOut(request) });
    }
    case 'close':
      writer.close();
      return parentPort?.close();
    case 'open':
      return undefined;
  }
}

/** Opens the journal, which may be long after this thread has loaded its code, and has made what needs no journal. */
function open(data: WriterData, series: JournalSeries): void {
  try {
    const writer = new Writer(data, series);
    parentPort?.on('message', (command: WriterCommand) => carryOut(writer, command));
    report({ kind: 'ready', hasTimers: writer.hasTimers });
  } catch (error) {
    const { code, message } = journalFailure(error, 'opened', data.path);
    report({ kind: 'failed', code, message });
  }
}

const data = workerData as WriterData;
const series = new JournalSeries(data.series);
// The first command is `open`.
parentPort?.once('message', () => open(data, series));
