// HeldJournal: a journal whose appends a test holds, lets through one by one, fails, and loses the outcomes of, in an
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
  /** What becomes of it because an append of its entity before it has failed; undefined: that is still open. */
  doom: 'failed' | 'stored' | undefined;
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

  /** Picks one of so many entities, of which the oldest append is next; 0 is the one that has waited longest. */
  protected nextOf(_entityCount: number): number {
    return 0;
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
    this.#queue.push({ entity, records, settled, beside, doom: undefined });
    if (!this.held) void this.letThrough();
  }

  /** Stores the next append, once those before it have settled, and waits until it has. */
  letThrough(): Promise<void> {
    return this.#inTurn(async () => {
      const append = this.#take();
      if (append?.doom === 'failed') this.#settle(append, diskFailure());
      else if (append !== undefined) await this.#store(append, append.doom !== undefined);
    });
  }

  /**
   * Settles the next append with SVC_CALL_UNCERTAIN, stored or not; one that is doomed keeps its fate. Of the later ones of its
   * entity, which fail, the first `laterStored` are stored too if it is.
   */
  loseOutcome(isStored: boolean, laterStored = 0): Promise<void> {
    return this.#inTurn(async () => {
      const append = this.#take();
      if (append === undefined) return;
      if (append.doom === undefined ? isStored : append.doom === 'stored')
        await this.#store(append, true, laterStored);
      else this.#settle(append, outcomeUnknown());
    });
  }

  #store(append: HeldAppend, isOutcomeLost: boolean, laterStored = 0): Promise<void> {
    return new Promise((resolve) => {
      const settled = (failure?: SvcError): void => {
        const isStored = failure === undefined;
        this.#settle(
          append,
          isOutcomeLost ? outcomeUnknown() : failure,
          isStored ? laterStored : 0,
        );
        resolve();
      };
      this.#inner.append(append.entity, append.records, settled, append.beside);
    });
  }

  /** Settles an append. If it fails, those of its entity that are queued by now fail as well; so many of them are stored. */
  #settle({ entity, beside, settled }: HeldAppend, failure?: SvcError, laterStored = 0): void {
    if (failure !== undefined && beside?.isDetached !== true) {
      let left = laterStored;
      for (const later of this.#queue)
        if (later.entity.id === entity.id && later.beside?.isDetached !== true)
          later.doom ??= left-- > 0 ? 'stored' : 'failed';
    }
    settled(failure);
  }

  #take(): HeldAppend | undefined {
    const oldest = new Map<string, number>();
    for (const [index, { entity }] of this.#queue.entries()) {
      const name = `${entity.component}/${entity.id}`;
      if (!oldest.has(name)) oldest.set(name, index);
    }
    const index = [...oldest.values()][this.nextOf(oldest.size)];
    return index === undefined ? undefined : this.#queue.splice(index, 1)[0];
  }

  async letAllThrough(): Promise<void> {
    this.held = false;
    while (this.#queue.length > 0) await this.letThrough();
  }

  /** Fails the next append in the same way, and with it the later ones of its entity. One that is doomed keeps its fate. */
  fail(failure = diskFailure()): Promise<void> {
    return this.#inTurn(async () => {
      const append = this.#take();
      if (append === undefined) return;
      if (append.doom === 'stored') await this.#store(append, true);
      else this.#settle(append, failure);
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

function outcomeUnknown(): SvcError {
  return new SvcError(
    'SVC_CALL_UNCERTAIN',
    'The test does not say what has become of it. Look at the entity.',
  );
}
