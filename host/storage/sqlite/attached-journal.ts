// AttachedJournal is the journal as one thread uses it. It sends appends to the writer thread, all appends of a tick in
// one message. It reads through its own connection, but not before the writer's first message, the greeting: by then
// the writer has stored everything that an earlier user sent, whose thread may have ended in the middle of its work.
import assert from 'node:assert';
import type { MessagePort } from 'node:worker_threads';
import type { Positions } from '../../engine/needs/feed.ts';
import type {
  Journal,
  StoredBeside,
  StoredReply,
  IncarnationStart,
  Snapshot,
} from '../../engine/needs/journal.ts';
import type { StoredTimer } from '../../engine/needs/timers.ts';
import type { Awaitable } from '@svc/model/call';
import type { EntityRef, JournalRecord, StoredEvent } from '@svc/model/entity';
import { SvcError } from '@svc/kit/svc-error';
import { journalPath } from './journal-file.ts';
import {
  type AppendBatch,
  type SentSnapshot,
  type Settlement,
  encodeAppend,
} from './journal-message.ts';
import { JournalReader } from './journal-reader.ts';
import { snapshotPath } from './snapshot-file.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import { SqlitePositions } from './sqlite-positions.ts';
import { SnapshotReader } from './snapshot-reader.ts';

type Settled = (failure?: SvcError) => void;

/**
 * Returns the journal for the thread that calls this function. The connection comes from `connect()` of the journal in
 * the thread that opened it. Throws SVC_JOURNAL_CORRUPT or SVC_JOURNAL_UNAVAILABLE.
 */
export function attachSqliteJournal({ dir, end, ports }: SqliteConnection): Journal {
  return new AttachedJournal(ports[0], dir, new SqlitePositions(end));
}

class AttachedJournal implements Journal {
  readonly positions: Positions;
  readonly #port: MessagePort;
  readonly #reader: JournalReader;
  readonly #snapshots: SnapshotReader;
  /** Appends of this tick that are not sent yet. */
  #batch: AppendBatch = [];
  /** Callbacks of the appends that have not settled, oldest first. */
  #unsettled: Settled[] = [];
  /** Number of this thread's appends that have settled. */
  #settledCount = 0;
  #state: 'open' | 'closing' | 'closed' = 'open';
  /** Set together with the promise `#greeted`, for methods that answer at once when they can. */
  #isGreeted = false;
  readonly #greeted = Promise.withResolvers<void>();
  readonly #drained = Promise.withResolvers<void>();
  #closed: Promise<void> | undefined = undefined;
  readonly #send = (): void => {
    const batch = this.#batch;
    this.#batch = [];
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
    this.#port.postMessage(batch);
  };

  constructor(port: MessagePort, dir: string, positions: Positions) {
    this.positions = positions;
    this.#reader = new JournalReader(journalPath(dir));
    this.#snapshots = new SnapshotReader(snapshotPath(dir));
    this.#port = port;
    port.on('message', (settlement: Settlement) => this.#settle(settlement));
    port.on('close', () => this.#portClosed());
  }

  append(
    entity: EntityRef,
    records: readonly JournalRecord[],
    settled: Settled,
    beside: StoredBeside = {},
  ): void {
    assert(records.length > 0 || beside.reply !== undefined || beside.timers !== undefined);
    assert(records.length === 0 || beside.isDetached !== true);
    if (this.#state !== 'open') {
      queueMicrotask(() => settled(closed()));
      return;
    }
    // Sent after the callbacks of this turn of the event loop, so that all their appends go in one message.
    if (this.#batch.length === 0) setImmediate(this.#send);
    encodeAppend(this.#batch, this.#settledCount, entity, records, beside);
    this.#unsettled.push(settled);
  }

  async read(
    entity: EntityRef,
    afterSeq: number,
    limit: number,
  ): Promise<readonly JournalRecord[]> {
    await this.#greeted.promise;
    if (this.#state === 'closed') throw closedForReading();
    return this.#reader.read(entity, afterSeq, limit);
  }

  eventsAfter(entity: EntityRef, afterSeq: number, limit: number): readonly StoredEvent[] {
    if (this.#state === 'closed') throw closedForReading();
    return this.#isGreeted ? this.#reader.eventsAfter(entity, afterSeq, limit) : [];
  }

  async lastDeletion(entity: EntityRef): Promise<number> {
    await this.#greeted.promise;
    if (this.#state === 'closed') throw closedForReading();
    return this.#reader.lastDeletion(entity);
  }

  incarnation(
    entity: EntityRef,
    limit: number,
    fingerprint: string | undefined,
  ): Awaitable<IncarnationStart> {
    if (!this.#isGreeted)
      return this.#greeted.promise.then(() => this.incarnation(entity, limit, fingerprint));
    if (this.#state === 'closed') throw closedForReading();
    if (fingerprint === undefined) return this.#reader.incarnation(entity, limit);
    return this.#reader.incarnation(entity, limit, (entityNo) =>
      this.#snapshots.find(entity, entityNo, fingerprint),
    );
  }

  keepSnapshot({ component, id }: EntityRef, { seq, fingerprint, state }: Snapshot): void {
    if (this.#state === 'closed') return;
    const sent: SentSnapshot = { component, id, seq, fingerprint, state };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
    this.#port.postMessage(sent);
  }

  answer(entity: EntityRef, key: string): Awaitable<StoredReply | undefined> {
    if (!this.#isGreeted) return this.#greeted.promise.then(() => this.answer(entity, key));
    if (this.#state === 'closed') throw closedForReading();
    return this.#reader.answer(entity, key);
  }

  timer(number: number): Awaitable<StoredTimer | undefined> {
    if (!this.#isGreeted) return this.#greeted.promise.then(() => this.timer(number));
    if (this.#state === 'closed') throw closedForReading();
    return this.#reader.timer(number);
  }

  close(): Promise<void> {
    this.#closed ??= this.#drain();
    return this.#closed;
  }

  async #drain(): Promise<void> {
    if (this.#state === 'open') this.#state = 'closing';
    if (this.#unsettled.length > 0) await this.#drained.promise;
    this.#port.close();
    this.#portClosed();
  }

  #settle([count, failures]: Settlement): void {
    this.#greet();
    const settled = this.#unsettled.splice(0, count);
    let nextFailure = 0;
    for (const [index, callback] of settled.entries()) {
      this.#settledCount++;
      const failure = failures[nextFailure];
      if (failure?.[0] === index) {
        nextFailure++;
        callback(new SvcError(failure[1], failure[2]));
      } else callback();
    }
    if (this.#state === 'closing' && this.#unsettled.length === 0) this.#drained.resolve();
  }

  /** Lets reads begin, or fail if the port is closed. */
  #greet(): void {
    this.#isGreeted = true;
    this.#greeted.resolve();
  }

  /** Called when either side has closed the port, or the writer's thread has ended. */
  #portClosed(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#reader.close();
    this.#snapshots.close();
    const settled = this.#unsettled;
    this.#unsettled = [];
    for (const callback of settled) callback(closed());
    this.#greet();
    this.#drained.resolve();
  }
}

function closed(): SvcError {
  return new SvcError(
    'SVC_JOURNAL_UNAVAILABLE',
    'The journal is closed, so the write has not been confirmed. ' +
      'Start the service again and look whether it was done.',
  );
}

function closedForReading(): SvcError {
  return new SvcError('SVC_JOURNAL_UNAVAILABLE', 'The journal is closed. Start the service again.');
}
