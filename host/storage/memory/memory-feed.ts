// MemoryFeed reads the records of a journal in memory, in the order in which they were stored. A position is a number of
// records.
import type { Feed, FeedPage, FeedRecord, Position } from '../../engine/needs/feed.ts';
import { READ_UNITS_MAX } from '../../engine/needs/journal.ts';
import { SvcError } from '@svc/kit/svc-error';
import type { EntityRef, JournalRecord } from '@svc/model/entity';

/** The records of all entities in the order in which they were stored, and the feeds that wait for the next one. */
export class StoredOrder {
  readonly records: FeedRecord[] = [];
  #next = Promise.withResolvers<void>();

  /** Resolves when records are added, or a feed is closed. */
  get changed(): Promise<void> {
    return this.#next.promise;
  }

  add(entity: EntityRef, records: readonly JournalRecord[]): void {
    if (records.length === 0) return;
    for (const record of records) this.records.push({ entity, record });
    this.wake();
  }

  /** Whether a record comes after the position. */
  isAfter(position: Position, { component, id }: EntityRef, seq: number): boolean {
    return this.records
      .slice(Number(position))
      .some(
        ({ entity, record }) =>
          record.seq === seq && entity.id === id && entity.component === component,
      );
  }

  wake(): void {
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }
}

export class MemoryFeed implements Feed {
  readonly start = '0';
  readonly #order: StoredOrder;
  readonly #isCutOff: () => boolean;
  #isClosed = false;

  /** `isCutOff`: whether nothing more can be read. */
  constructor(order: StoredOrder, isCutOff: () => boolean = () => false) {
    this.#order = order;
    this.#isCutOff = isCutOff;
  }

  end(): Position {
    return String(this.#order.records.length);
  }

  /** There is one order of all entities. */
  endOf(): Position {
    return this.end();
  }

  read(after: Position, limit: number, components: ReadonlySet<string>): FeedPage {
    if (this.#isCutOff())
      throw new SvcError('SVC_JOURNAL_UNAVAILABLE', 'The journal is closed. Open it anew.');
    const records: FeedRecord[] = [];
    let count = Number(after);
    let units = 0;
    for (const stored of this.#order.records.slice(count, count + limit)) {
      count++;
      if (!components.has(stored.entity.component)) continue;
      records.push(stored);
      if (stored.record.kind === 'event') units += stored.record.event.json.length;
      if (units >= READ_UNITS_MAX) break;
    }
    return { records, position: String(count) };
  }

  /** The number of the record is enough: positions of a journal in memory are never kept longer than the journal. */
  mark(position: Position): string | undefined {
    const count = Number(position);
    return count > 0 && count <= this.#order.records.length ? position : undefined;
  }

  hasReached(position: Position, wanted: Position): boolean {
    return Number(position) >= Number(wanted);
  }

  count(from: Position, to: Position): number {
    return Math.max(0, Number(to) - Number(from));
  }

  parse(text: string): Position | undefined {
    const number = Number(text);
    return Number.isSafeInteger(number) && number >= 0 && String(number) === text
      ? text
      : undefined;
  }

  async advancedPast(position: Position): Promise<void> {
    const isAtEnd = () => this.#isCutOff() || this.#order.records.length <= Number(position);
    while (!this.#isClosed && isAtEnd()) await this.#order.changed;
  }

  close(): void {
    this.#isClosed = true;
    this.#order.wake();
  }
}
