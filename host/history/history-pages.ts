// HistoryPages: the records of an entity some at a time, as steps (history-walk.ts). Invariants:
// - A page has bounds in records, in text and in time, and at least one step where there is one.
// - Who asks for the page that follows one of the last two, or for the end of it again, does not have the events before
//   folded again: whoever looks at the end of a long history asks for it every other second.
import type { HistoryPage, HistoryStep } from '@svc/contract';
import { entityName } from '../engine/entity/history.ts';
import type { GuestEntities } from '../engine/needs/guest.ts';
import type { EntityRef } from '../model/entity.ts';
import { SvcError } from '@svc/kit/svc-error';
import type { JournalInspection } from '../storage/sqlite/tools/journal-inspection.ts';
import { HistoryWalk } from './history-walk.ts';
import { recordsAfter } from './incarnation-at.ts';

/** UTF-16 units of JSON text after which a page ends. */
const PAGE_UNITS = 2 * 1024 * 1024;
/** Milliseconds after which it does. */
const PAGE_MS = 3_000;
/** Steps that are kept, and their text. */
const KEPT_STEPS = 200;
const KEPT_UNITS = 2 * PAGE_UNITS;
/** Who reads on, and who looks at the end. */
const READERS = 2;

export class HistoryPages {
  readonly #inspection: JournalInspection;
  readonly #entities: GuestEntities | undefined;
  readonly #entity: EntityRef;
  /** The one that was used last is the first. */
  #readers: readonly Reader[] = [];

  /** `entities`: undefined, the module has no such component. */
  constructor(
    inspection: JournalInspection,
    entities: GuestEntities | undefined,
    entity: EntityRef,
  ) {
    this.#inspection = inspection;
    this.#entities = entities;
    this.#entity = entity;
  }

  /** At most `limit` records, from number `from` on. Throws SVC_NOT_IN_JOURNAL, and as the inspection does. */
  async page(from: number, limit: number): Promise<HistoryPage> {
    const entity = this.#entity;
    if (!this.#inspection.hasEntity(entity))
      throw new SvcError('SVC_NOT_IN_JOURNAL', `The journal has no ${entityName(entity)}.`);
    const reader = this.#readerFor(from);
    try {
      return { ...entity, ...(await this.#steps(reader, from, limit)), total: this.#total() };
    } catch (error) {
      // Where it stands is not known.
      this.#readers = this.#readers.filter((other) => other !== reader);
      reader.walk.close();
      throw error;
    }
  }

  close(): void {
    for (const { walk } of this.#readers) walk.close();
    this.#readers = [];
  }

  async #steps(
    reader: Reader,
    from: number,
    limit: number,
  ): Promise<Pick<HistoryPage, 'steps' | 'next'>> {
    const endMs = performance.now() + PAGE_MS;
    const steps: HistoryStep[] = [];
    let units = 0;
    const isFull = () =>
      steps.length === limit ||
      (steps.length > 0 && (units >= PAGE_UNITS || performance.now() >= endMs));
    for (const step of reader.kept) {
      if (step.seq < from) continue;
      if (isFull()) return { steps, next: step.seq };
      units += unitsOf(step);
      steps.push(step);
    }
    const { walk } = reader;
    for (const record of recordsAfter(this.#inspection, this.#entity, walk.seq)) {
      if (record.seq < from) {
        await reader.pass(record);
        continue;
      }
      if (isFull()) return { steps, next: record.seq };
      const step = await reader.step(record);
      units += unitsOf(step);
      steps.push(step);
    }
    return { steps, next: null };
  }

  /** One that has the record already, or stands before it and nearest to it, or one that begins anew. */
  #readerFor(from: number): Reader {
    const before = this.#readers.filter(({ walk }) => walk.seq < from);
    const reader =
      this.#readers.find((one) => one.has(from)) ??
      before.toSorted((a, b) => b.walk.seq - a.walk.seq)[0] ??
      new Reader(new HistoryWalk(this.#inspection, this.#entities, this.#entity));
    const others = this.#readers.filter((other) => other !== reader);
    for (const { walk } of others.slice(READERS - 1)) walk.close();
    this.#readers = [reader, ...others.slice(0, READERS - 1)];
    return reader;
  }

  /** Numbers have no gaps, so the last one is found without reading all of them. */
  #total(): number {
    let last = 0;
    for (let stride = 1; stride >= 1;) {
      const { storedCount, lastSeq } = this.#inspection.records(this.#entity, last + stride - 1, 1);
      if (storedCount === 0) stride = stride === 1 ? 0 : Math.ceil(stride / 4);
      else {
        last = lastSeq;
        stride *= 2;
      }
    }
    return last;
  }
}

type WalkedRecord = Parameters<HistoryWalk['step']>[0];

/** A walk, and the last steps that it has made. */
class Reader {
  readonly walk: HistoryWalk;
  /** Without a gap up to where the walk stands. */
  kept: readonly HistoryStep[] = [];

  constructor(walk: HistoryWalk) {
    this.walk = walk;
  }

  /** The record is one of those, or the next one. */
  has(seq: number): boolean {
    const [first] = this.kept;
    return first !== undefined && first.seq <= seq && seq <= this.walk.seq + 1;
  }

  async pass(record: WalkedRecord): Promise<void> {
    this.kept = [];
    await this.walk.pass(record);
  }

  async step(record: WalkedRecord): Promise<HistoryStep> {
    const step = await this.walk.step(record);
    const kept = [...this.kept, step].slice(-KEPT_STEPS);
    let units = kept.reduce((sum, one) => sum + unitsOf(one), 0);
    while (units > KEPT_UNITS && kept.length > 1) units -= unitsOf(kept.shift()!);
    this.kept = kept;
    return step;
  }
}

function unitsOf({ event, state, changes }: HistoryStep): number {
  let units = (event?.length ?? 0) + (state?.length ?? 0);
  for (const { before, after } of changes) units += (before?.length ?? 0) + (after?.length ?? 0);
  return units;
}
