// HeldJournal: a journal whose appends a test holds back, lets through one by one, and fails, in the
// order and with the consequences that `needs/journal.ts` promises.
import type { Positions } from '../../host/engine/needs/feed.ts';
import type {
  StoredBeside,
  Journal,
  StoredReply,
  IncarnationStart,
  Snapshot,
} from '../../host/engine/needs/journal.ts';
import type { StoredTimer } from '../../host/engine/needs/timers.ts';
import type { Awaitable } from '../../model/call.ts';
import type { EntityRef, JournalRecord } from '../../model/entity.ts';
import { SvcError } from '../../kit/svc-error.ts';

interface HeldAppend {
  readonly entity: EntityRef;
  readonly records: readonly JournalRecord[];
  readonly settled: (failure?: SvcError) => void;
  readonly beside: StoredBeside | undefined;
  doomed: boolean;
}

export class HeldJournal implements Journal {
  readonly #inner: Journal;
  readonly #queue: HeldAppend[] = [];
  #turn: Promise<void> = Promise.resolve();
  /** The next reads that fail with this. */
  readFailure: SvcError | undefined = undefined;
  /** What asking for an answer fails with. */
  answerFailure: Error | undefined = undefined;
  held = false;
  /** Arguments of the reads, `component/id>afterSeq`. */
  readonly reads: string[] = [];
  appendCount = 0;
  /** What was to be kept, `component/id@seq`. */
  readonly snapshots: string[] = [];
  /** What an entity began with, `component/id@seq`. */
  readonly begun: string[] = [];

  constructor(inner: Journal) {
    this.#inner = inner;
  }

  get waitingCount(): number {
    return this.#queue.length;
  }

  get positions(): Positions {
    return this.#inner.positions;
  }

  append(
    entity: EntityRef,
    records: readonly JournalRecord[],
    settled: (failure?: SvcError) => void,
    beside?: StoredBeside,
  ): void {
    this.appendCount++;
    this.#queue.push({ entity, records, settled, beside, doomed: false });
    if (!this.held) void this.letThrough();
  }

  /** Stores the oldest append, once those before it have settled, and waits until it has. */
  letThrough(): Promise<void> {
    return this.#inTurn(async () => {
      const append = this.#queue.shift();
      if (append?.doomed === true) append.settled(diskFailure());
      else if (append !== undefined)
        await new Promise<void>((resolve) => {
          const settled = (failure?: SvcError): void => {
            append.settled(failure);
            resolve();
          };
          this.#inner.append(append.entity, append.records, settled, append.beside);
        });
    });
  }

  async letAllThrough(): Promise<void> {
    this.held = false;
    while (this.#queue.length > 0) await this.letThrough();
  }

  /** Fails the oldest append in the same way, and with it the later ones of its entity. */
  fail(failure = diskFailure()): Promise<void> {
    return this.#inTurn(() => {
      const append = this.#queue.shift();
      if (append === undefined) return;
      if (append.beside?.isDetached !== true)
        for (const later of this.#queue)
          if (later.entity.id === append.entity.id && later.beside?.isDetached !== true)
            later.doomed = true;
      append.settled(failure);
    });
  }

  #inTurn(action: () => Promise<void> | void): Promise<void> {
    this.#turn = this.#turn.then(action);
    return this.#turn;
  }

  async read(
    entity: EntityRef,
    afterSeq: number,
    limit: number,
  ): Promise<readonly JournalRecord[]> {
    this.reads.push(`${entity.component}/${entity.id}>${afterSeq}`);
    if (this.readFailure !== undefined) throw this.readFailure;
    return this.#inner.read(entity, afterSeq, limit);
  }

  async incarnation(
    entity: EntityRef,
    limit: number,
    fingerprint: string | undefined,
  ): Promise<IncarnationStart> {
    if (this.readFailure !== undefined) throw this.readFailure;
    const life = await this.#inner.incarnation(entity, limit, fingerprint);
    const name = `${entity.component}/${entity.id}`;
    this.reads.push(`${name}>${life.afterSeq}`);
    if (life.snapshot !== undefined) this.begun.push(`${name}@${life.afterSeq}`);
    return life;
  }

  keepSnapshot(entity: EntityRef, snapshot: Snapshot): void {
    this.snapshots.push(`${entity.component}/${entity.id}@${snapshot.seq}`);
    this.#inner.keepSnapshot(entity, snapshot);
  }

  lastDeletion(entity: EntityRef): Promise<number> {
    return this.#inner.lastDeletion(entity);
  }

  answer(entity: EntityRef, key: string): Awaitable<StoredReply | undefined> {
    if (this.answerFailure !== undefined) throw this.answerFailure;
    return this.#inner.answer(entity, key);
  }

  timer(number: number): Awaitable<StoredTimer | undefined> {
    return this.#inner.timer(number);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

export function diskFailure(): SvcError {
  return new SvcError('SVC_JOURNAL_UNAVAILABLE', 'The test says so. Try again.');
}
