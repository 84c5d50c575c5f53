// WatchedJournal: a journal in memory that knows what is stored without being asked, and whether a state that is to be
// kept is what its records make. FailingJournal: one that can be held and failed, and counts what it has failed.
import type { Positions } from '../../host/engine/needs/feed.ts';
import type {
  StoredBeside,
  Journal,
  StoredReply,
  IncarnationStart,
  Snapshot,
} from '../../host/engine/needs/journal.ts';
import type { StoredTimer } from '../../host/engine/needs/timers.ts';
import type { EntityRef, JournalRecord } from '../../model/entity.ts';
import type { SvcError } from '../../kit/svc-error.ts';
import { MemoryJournal } from '../../host/storage/memory/memory-journal.ts';
import { HeldJournal } from './held-journal.ts';

export class WatchedJournal implements Journal {
  /** By the entity's id. */
  readonly stored: ReadonlyMap<string, JournalRecord[]>;
  readonly #inner: MemoryJournal;
  keptCount = 0;
  begunCount = 0;
  readonly wrong: string[] = [];

  constructor(ids: readonly string[], inner = new MemoryJournal()) {
    this.#inner = inner;
    this.stored = new Map(ids.map((id) => [id, []]));
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
    const stored = (failure?: SvcError): void => {
      if (failure === undefined) this.stored.get(entity.id)!.push(...records);
      settled(failure);
    };
    this.#inner.append(entity, records, stored, beside);
  }

  answer(entity: EntityRef, key: string): StoredReply | undefined {
    return this.#inner.answer(entity, key);
  }

  timer(number: number): StoredTimer | undefined {
    return this.#inner.timer(number);
  }

  read(entity: EntityRef, afterSeq: number, limit: number): Promise<readonly JournalRecord[]> {
    return this.#inner.read(entity, afterSeq, limit);
  }

  incarnation(entity: EntityRef, limit: number, fingerprint: string | undefined): IncarnationStart {
    const life = this.#inner.incarnation(entity, limit, fingerprint);
    if (life.snapshot !== undefined) this.begunCount++;
    return life;
  }

  /** Whatever is kept is the state after its record. */
  keepSnapshot(entity: EntityRef, snapshot: Snapshot): void {
    this.keptCount++;
    const records = this.stored.get(entity.id)!.slice(0, snapshot.seq);
    if (records.length < snapshot.seq || snapshot.state !== JSON.stringify(lifeOf(records)))
      this.wrong.push(`${entity.id}@${snapshot.seq}: ${snapshot.state}`);
    this.#inner.keepSnapshot(entity, snapshot);
  }

  forgetSnapshots(): void {
    this.#inner.forgetSnapshots();
  }

  lastDeletion(entity: EntityRef): Promise<number> {
    return this.#inner.lastDeletion(entity);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

export class FailingJournal extends HeldJournal {
  readonly #failures = new Map<string, number>();

  failuresOf(id: string): number {
    return this.#failures.get(id) ?? 0;
  }

  override append(
    entity: EntityRef,
    records: readonly JournalRecord[],
    settled: (failure?: SvcError) => void,
    beside?: StoredBeside,
  ): void {
    const counted = (failure?: SvcError): void => {
      if (failure !== undefined) this.#failures.set(entity.id, this.failuresOf(entity.id) + 1);
      settled(failure);
    };
    super.append(entity, records, counted, beside);
  }
}

/** The numbers of the life that is present after these records of a counter. */
export function lifeOf(records: readonly JournalRecord[]): number[] {
  const life: number[] = [];
  for (const record of records)
    if (record.kind === 'deleted') life.length = 0;
    else life.push((JSON.parse(record.event.json) as { by: number }).by);
  return life;
}
