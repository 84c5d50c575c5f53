// HistoryPages reads the records of an entity page by page, as steps (history-walk.ts). Invariants:
// - A page ends after a number of records, an amount of text, or a time. It has at least one step if there is a record.
//   Folding the records before the page has no limit of time.
// - A request for the page after one of the two pages that were returned last, or again for the end of such a page,
//   folds no earlier events again: a client that shows the end of a long history asks for this end every other second.
import type { HistoryPage, HistoryStep } from '@svc/contract';
import { entityName } from '../engine/entity/history.ts';
import type { GuestEntities } from '@svc/model/guest';
import type { EntityRef } from '@svc/model/entity';
import { SvcError } from '@svc/kit/svc-error';
import type { JournalInspection } from '../storage/journal-inspection.ts';
import { HistoryWalk } from './history-walk.ts';
import { recordsAfter } from './incarnation-at.ts';

/** A page ends after this many UTF-16 units of JSON text. */
const PAGE_UNITS = 2 * 1024 * 1024;
/** A page ends after this time, in milliseconds, unless its reader chooses another. */
const PAGE_MS = 3_000;
/** Limits of the cached steps of a reader: their number, and their text in UTF-16 units. */
const KEPT_STEPS = 200;
const KEPT_UNITS = 2 * PAGE_UNITS;
/** Maximum number of readers: one for a client that pages through the history, one that watches its end. */
const READERS_MAX = 2;

export class HistoryPages {
  readonly #inspection: JournalInspection;
  readonly #entities: GuestEntities | undefined;
  readonly #entity: EntityRef;
  readonly #pageMs: number;
  /** Most recently used first. */
  #readers: readonly Reader[] = [];

  /** `entities`: undefined if the module has no such component. `pageMs`: time after which a page ends. */
  constructor(
    inspection: JournalInspection,
    entities: GuestEntities | undefined,
    entity: EntityRef,
    pageMs = PAGE_MS,
  ) {
    this.#inspection = inspection;
    this.#entities = entities;
    this.#entity = entity;
    this.#pageMs = pageMs;
  }

  /**
   * Returns at most `limit` steps, from sequence number `from` on. Rejects with SVC_NOT_IN_JOURNAL and the errors
   * of the inspection.
   */
  async page(from: number, limit: number): Promise<HistoryPage> {
    const entity = this.#entity;
    if (!(await this.#inspection.hasEntity(entity)))
      throw new SvcError('SVC_NOT_IN_JOURNAL', `The journal has no ${entityName(entity)}.`);
    const reader = this.#readerFor(from);
    try {
      const steps = await this.#steps(reader, from, limit);
      return { ...entity, ...steps, total: await this.#total() };
    } catch (error) {
      // The position of the reader's walk is unknown now.
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
    const endMs = performance.now() + this.#pageMs;
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
    for await (const record of recordsAfter(this.#inspection, this.#entity, walk.seq)) {
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

  /**
   * Returns a reader that has the record cached, or else the reader nearest before the record, or a new one. Closes the
   * least recently used reader if there are too many.
   */
  #readerFor(from: number): Reader {
    const before = this.#readers.filter(({ walk }) => walk.seq < from);
    const reader =
      this.#readers.find((one) => one.has(from)) ??
      before.toSorted((a, b) => b.walk.seq - a.walk.seq)[0] ??
      new Reader(new HistoryWalk(this.#inspection, this.#entities, this.#entity));
    const others = this.#readers.filter((other) => other !== reader);
    for (const { walk } of others.slice(READERS_MAX - 1)) walk.close();
    this.#readers = [reader, ...others.slice(0, READERS_MAX - 1)];
    return reader;
  }

  /**
   * Returns the last sequence number of the entity, which is the number of its records. Sequence numbers have no gaps,
   * so a search with growing, then shrinking strides finds it without reading all records.
   */
  async #total(): Promise<number> {
    let last = 0;
    for (let stride = 1; stride >= 1;) {
      const after = last + stride - 1;
      // oxlint-disable-next-line no-await-in-loop -- where to look next depends on it
      const { storedCount, lastSeq } = await this.#inspection.records(this.#entity, after, 1);
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
  /** Cached steps, without gaps up to the position of the walk. */
  kept: readonly HistoryStep[] = [];

  constructor(walk: HistoryWalk) {
    this.walk = walk;
  }

  /** Returns whether the record is cached or directly follows the cached ones; false if none is cached. */
  has(seq: number): boolean {
    const [first] = this.kept;
    return first !== undefined && first.seq <= seq && seq <= this.walk.seq + 1;
  }

  /** Walks past a record that is not wanted as a step, and drops the cached steps. */
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
