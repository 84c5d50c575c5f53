// MemoryJournal is a journal that is lost when the process ends, for tests and for trying the service out.
import assert from 'node:assert';
import type {
  ConsumerSettlement,
  ConsumerWriter,
  StoredConsumer,
} from '../../engine/needs/consumers.ts';
import type { Positions } from '../../engine/needs/feed.ts';
import {
  type ReplyToStore,
  type Journal,
  type StoredBeside,
  type StoredReply,
  type IncarnationStart,
  READ_UNITS_MAX,
  type Snapshot,
} from '../../engine/needs/journal.ts';
import type { DuePosition, StoredTimer } from '../../engine/needs/timers.ts';
import type { EntityRef, JournalRecord } from '@svc/model/entity';
import { eventOfKey } from '@svc/model/event-key';
import { TIMER_LIMITS_DEFAULT, type TimerLimits } from '@svc/model/timer-limits';
import { Occurrences } from '../../schedule/occurrences.ts';
import { SvcError } from '@svc/kit/svc-error';
import { MemoryConsumers } from './memory-consumers.ts';
import { MemoryFeed, StoredOrder } from './memory-feed.ts';
import type { ServiceSchedule, TimerAdministration } from '../timer-administration.ts';
import type { TimerCounts } from '../timer-series.ts';
import { TimerAlarm } from '../timer-alarm.ts';
import { MemoryTimers, type WholeDueTimer } from './memory-timers.ts';

interface QueuedAppend {
  readonly entity: EntityRef;
  /** The entity, in the form of `keyOf`. */
  readonly key: string;
  readonly records: readonly JournalRecord[];
  readonly settled: (failure?: SvcError) => void;
  readonly beside: StoredBeside;
  /** True if an earlier append of the same entity failed. */
  dependsOnFailed: boolean;
}

/** The fate of a write. If one is stored and has a failure, its caller does not learn that it is stored. */
export interface WriteFate {
  readonly isStored: boolean;
  readonly failure: SvcError | undefined;
}

export interface MemoryJournalOptions {
  readonly timerLimits?: TimerLimits | undefined;
  /** Contents that outlive the journal; absent: it has its own. */
  readonly contents?: MemoryContents;
  /** Decides about each write, in the order of the writes; absent: they are stored. */
  readonly judge?: () => WriteFate;
}

/** Everything that a journal in memory holds. */
export class MemoryContents {
  /** Indexed by entity (`keyOf`), as are the snapshots. */
  readonly records = new Map<string, JournalRecord[]>();
  /** Indexed by entity and idempotency key, in the order of storing. */
  readonly replies = new Map<string, StoredReply>();
  readonly snapshots = new Map<string, Snapshot>();
  readonly order = new StoredOrder();
  readonly timers = new MemoryTimers(TIMER_LIMITS_DEFAULT, new Occurrences());
  readonly consumers = new MemoryConsumers();
}

const STORED: WriteFate = { isStored: true, failure: undefined };

export class MemoryJournal implements Journal, TimerAdministration, ConsumerWriter {
  readonly #records: MemoryContents['records'];
  readonly #replies: MemoryContents['replies'];
  readonly #snapshots: MemoryContents['snapshots'];
  readonly #order: StoredOrder;
  readonly #timers: MemoryTimers;
  readonly #consumers: MemoryConsumers;
  readonly #judge: (() => WriteFate) | undefined;
  /** Wakes the dispatcher of timers. */
  readonly alarm = new TimerAlarm();
  readonly positions: Positions;
  #queue: QueuedAppend[] = [];
  /** Settles once the queue is stored; undefined when the queue is empty. */
  #stored: Promise<void> | undefined = undefined;
  #closed = false;
  #isCutOff = false;

  constructor({
    timerLimits = TIMER_LIMITS_DEFAULT,
    contents = new MemoryContents(),
    judge,
  }: MemoryJournalOptions = {}) {
    this.#records = contents.records;
    this.#replies = contents.replies;
    this.#snapshots = contents.snapshots;
    this.#order = contents.order;
    this.#timers = contents.timers;
    this.#timers.limits = timerLimits;
    this.#consumers = contents.consumers;
    this.#judge = judge;
    this.positions = this.feed();
    // Of a journal that was opened before, there may be timers.
    this.alarm.stored(this.#timers.earliestMs() ?? Infinity);
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Lets every read fail from now on. `judge` decides about the writes. */
  cutOff(): void {
    this.#isCutOff = true;
  }

  append(
    entity: EntityRef,
    records: readonly JournalRecord[],
    settled: (failure?: SvcError) => void,
    beside: StoredBeside = {},
  ): void {
    assert(records.length > 0 || beside.reply !== undefined || beside.timers !== undefined);
    assert(records.length === 0 || beside.isDetached !== true);
    const key = keyOf(entity);
    this.#queue.push({ entity, key, records, settled, beside, dependsOnFailed: false });
    this.#stored ??= Promise.resolve().then(() => this.#store());
  }

  async read(
    entity: EntityRef,
    afterSeq: number,
    limit: number,
  ): Promise<readonly JournalRecord[]> {
    await Promise.resolve();
    this.#checkReadable();
    return this.#page(entity, afterSeq, limit);
  }

  async lastDeletion(entity: EntityRef): Promise<number> {
    await Promise.resolve();
    this.#checkReadable();
    return this.#lastDeletion(entity);
  }

  incarnation(entity: EntityRef, limit: number, fingerprint: string | undefined): IncarnationStart {
    this.#checkReadable();
    const snapshot = this.#snapshots.get(keyOf(entity));
    const deletedSeq = this.#lastDeletion(entity);
    const isUsable =
      snapshot !== undefined && snapshot.fingerprint === fingerprint && snapshot.seq > deletedSeq;
    const afterSeq = isUsable ? snapshot.seq : deletedSeq;
    const records = this.#page(entity, afterSeq, limit);
    const stored = this.#records.get(keyOf(entity))?.length ?? 0;
    const isWhole = stored === afterSeq + records.length;
    return { afterSeq, snapshot: isUsable ? snapshot.state : undefined, records, isWhole };
  }

  keepSnapshot(entity: EntityRef, snapshot: Snapshot): void {
    if (this.#closed || this.#isCutOff) return;
    this.#snapshots.set(keyOf(entity), snapshot);
  }

  /** Drops all snapshots; entities are then folded from their records. */
  forgetSnapshots(): void {
    this.#snapshots.clear();
  }

  answer(entity: EntityRef, key: string): StoredReply | undefined {
    this.#checkReadable();
    return this.#replies.get(replyKey(keyOf(entity), key));
  }

  /** Opens a feed of the records. */
  feed(): MemoryFeed {
    return new MemoryFeed(this.#order, () => this.#isCutOff);
  }

  timer(number: number): StoredTimer | undefined {
    this.#checkReadable();
    return this.#timers.get(number);
  }

  /** Does what `MemoryTimers.due` does. */
  dueTimers(nowMs: number, limit: number, after?: DuePosition): readonly WholeDueTimer[] {
    return this.#timers.due(nowMs, limit, after);
  }

  /** Does what `MemoryTimers.earliestMs` does. */
  earliestTimerMs(afterMs?: number): number | undefined {
    return this.#timers.earliestMs(afterMs);
  }

  timerCounts(): TimerCounts {
    return this.#timers.counts();
  }

  async reconcileSchedules(schedules: readonly ServiceSchedule[], nowMs: number): Promise<void> {
    await this.#stored;
    const failure = this.#write(() => this.#timers.reconcile(schedules, nowMs));
    if (failure !== undefined) throw failure;
    this.#timersChanged();
  }

  async cancelTimer(owner: EntityRef | undefined, name: string): Promise<boolean> {
    await this.#stored;
    return this.#write(() => {
      const isThere = this.#timers.named(owner, name) !== undefined;
      this.#timers.apply(owner, false, { changes: [{ kind: 'cancel', name }] });
      return isThere;
    });
  }

  async retryTimer(owner: EntityRef | undefined, name: string, nowMs: number): Promise<boolean> {
    await this.#stored;
    const isDead = this.#write(() => this.#timers.retry(owner, name, nowMs));
    this.#timersChanged();
    return isDead;
  }

  /** Reads the positions and lanes of consumers. */
  get consumers(): MemoryConsumers {
    return this.#consumers;
  }

  async settleConsumer(
    consumer: Pick<StoredConsumer, 'id' | 'start'>,
    settlement: ConsumerSettlement,
  ): Promise<void> {
    await this.#stored;
    this.#write(() => this.#consumers.settle(consumer, settlement));
  }

  async close(): Promise<void> {
    await this.#stored;
    this.#closed = true;
  }

  #page(entity: EntityRef, afterSeq: number, limit: number): readonly JournalRecord[] {
    const records = this.#records.get(keyOf(entity)) ?? [];
    const page: JournalRecord[] = [];
    let units = 0;
    // The record with sequence number n is at index n - 1.
    for (const record of records.slice(afterSeq, afterSeq + limit)) {
      page.push(record);
      if (record.kind === 'event') units += record.event.json.length;
      if (units >= READ_UNITS_MAX) break;
    }
    return page;
  }

  #lastDeletion(entity: EntityRef): number {
    const records = this.#records.get(keyOf(entity)) ?? [];
    return records.findLast((record) => record.kind === 'deleted')?.seq ?? 0;
  }

  #store(): void {
    this.#stored = undefined;
    const queue = this.#queue;
    this.#queue = [];
    for (const [index, append] of queue.entries()) {
      const { isStored, failure } = this.#append(append);
      if (!isStored && append.beside.isDetached !== true)
        for (const later of [...queue.slice(index + 1), ...this.#queue])
          if (later.key === append.key) later.dependsOnFailed = true;
      append.settled(failure);
    }
  }

  /** Stores an append if it can be stored, and returns what has become of it. */
  #append(append: QueuedAppend): WriteFate {
    const fate = this.#fate();
    if (!fate.isStored) return fate;
    const failure = this.#conflict(append) ?? this.#changeTimers(append);
    if (failure !== undefined) return { isStored: false, failure };
    this.#insert(append);
    return fate;
  }

  /** Makes a write that is no append, and returns its result. Throws the failure with which its caller is answered. */
  #write<T>(write: () => T): T {
    const { isStored, failure } = this.#fate();
    if (!isStored) throw failure!;
    const result = write();
    if (failure !== undefined) throw failure;
    return result;
  }

  #fate(): WriteFate {
    if (this.#closed) return { isStored: false, failure: closed() };
    return this.#judge?.() ?? STORED;
  }

  #checkReadable(): void {
    if (this.#closed || this.#isCutOff) throw closed();
  }

  #changeTimers({ entity, records, beside }: QueuedAppend): SvcError | undefined {
    const isDeleted = records.some(({ kind }) => kind === 'deleted');
    if (beside.timers === undefined && !isDeleted) return undefined;
    const failure = this.#timers.apply(entity, isDeleted, beside.timers ?? { changes: [] });
    this.#timersChanged();
    return failure;
  }

  #timersChanged(): void {
    this.alarm.stored(this.#timers.takeEarliestMs());
  }

  #insert({ entity, key, records, beside }: QueuedAppend): void {
    const stored = this.#records.get(key);
    if (stored === undefined) this.#records.set(key, [...records]);
    else stored.push(...records);
    this.#order.add(entity, records);
    if (beside.reply !== undefined) this.#storeReply(key, beside.reply);
  }

  /**
   * Stores a reply, and removes the expired replies that are stored before the first one that has not expired. Those that a
   * consumer may still need are put behind the others. The time of the reply is that of the journal, which has one writer.
   */
  #storeReply(entity: string, { retentionMs, ...reply }: ReplyToStore): void {
    const expiredMs = reply.timeMs - retentionMs;
    let left = this.#replies.size;
    for (const [name, stored] of this.#replies) {
      if (left-- === 0 || stored.timeMs > expiredMs) break;
      this.#replies.delete(name);
      if (this.#isNeeded(stored)) this.#replies.set(name, stored);
    }
    const name = replyKey(entity, reply.key);
    this.#replies.delete(name);
    this.#replies.set(name, reply);
  }

  /** Whether the reply is of a call for an event that its consumer has not settled. */
  #isNeeded({ key }: StoredReply): boolean {
    const event = eventOfKey(key);
    if (event === undefined) return false;
    const { consumer, entity, seq } = event;
    const position = this.#consumers.consumer(consumer)?.position;
    if (position === undefined) return false;
    const lane = this.#consumers.lane(consumer, entity);
    return (lane !== undefined && lane.seq <= seq) || this.#order.isAfter(position, entity, seq);
  }

  /** Returns the failure of an append that cannot be stored; undefined if it can. */
  #conflict({ key, records, beside, dependsOnFailed }: QueuedAppend): SvcError | undefined {
    if (beside.isDetached === true) return undefined;
    if (dependsOnFailed) return unavailable('one before it was not stored');
    const last = this.#records.get(key)?.length ?? 0;
    return records.length === 0 || records[0]?.seq === last + 1
      ? undefined
      : unavailable(`record ${records[0]?.seq} does not follow record ${last}`);
  }
}

function keyOf({ component, id }: EntityRef): string {
  return `${component}\n${id}`;
}

/** Returns a unique text of both parts. The key's length comes first, because both may contain any character. */
function replyKey(entity: string, key: string): string {
  return `${key.length} ${key} ${entity}`;
}

function unavailable(why: string): SvcError {
  return new SvcError('SVC_JOURNAL_UNAVAILABLE', `The write was not stored: ${why}. Try again.`);
}

function closed(): SvcError {
  return new SvcError('SVC_JOURNAL_UNAVAILABLE', 'The journal is closed. Open it anew.');
}
