// DatabaseScan is the scan of a journal in a database, in the order of CommitOrder. It keeps how far it is in each slice, so that no
// record is left out that is stored later by an earlier transaction: such a record comes when it is there.
import type {
  JournalScan,
  RecordFilter,
  ScannedDamage,
  ScannedPage,
  ScannedRecord,
} from '../../journal-scan.ts';
import type { JournalInDatabase } from '../../journal-location.ts';
import { sliceOf } from '@svc/model/slice';
import {
  type SliceEnds,
  lastKey,
  endsAfter,
  noRecords,
  parsePosition,
  positionText,
  readEnds,
} from './commit-order.ts';
import { DatabaseReader } from './database-reader.ts';
import { type OrderedDamage, type OrderedRecord, OrderedRecords } from './ordered-records.ts';

const START = '0';

export class DatabaseScan implements JournalScan {
  readonly start = START;
  readonly #reader: DatabaseReader;
  readonly #filter: RecordFilter;
  /** The position up to which the scan has read, and how far each slice is there. */
  #at = START;
  #ends = noRecords();
  #records: OrderedRecords | undefined;

  constructor(location: JournalInDatabase, filter: RecordFilter = {}) {
    this.#reader = new DatabaseReader(location);
    this.#filter = filter;
  }

  parse(text: string): string | undefined {
    const key = parsePosition(text);
    if (key === undefined) return text === START ? START : undefined;
    return positionText(key);
  }

  async lastPos(): Promise<string> {
    const heads = await readEnds(this.#reader);
    const last = await lastKey(this.#reader, heads);
    this.#moveTo(last === undefined ? START : positionText(last), heads);
    return this.#at;
  }

  async page(afterPos: string, limit: number): Promise<ScannedPage> {
    if (afterPos !== this.#at) await this.#moveAfter(afterPos);
    const records = (this.#records ??= await this.#open());
    const { entries, isLast } = await records.page(limit);
    if (records.last !== undefined) this.#at = positionText(records.last);
    if (isLast) this.#moveTo(this.#at, records.ends);
    return { entries: entries.map(scannedOf), lastPos: this.#at, isLast };
  }

  /** The connection stays: it is in nobody's way, and making one is not for free. */
  rest(): void {}

  close(): void {
    this.#reader.close();
  }

  async #moveAfter(position: string): Promise<void> {
    const key = parsePosition(position);
    const heads = await readEnds(this.#reader);
    const ends = key === undefined ? noRecords() : await endsAfter(this.#reader, key, heads);
    this.#moveTo(position, ends);
  }

  #moveTo(position: string, ends: SliceEnds): void {
    this.#at = position;
    this.#ends = ends;
    this.#records = undefined;
  }

  async #open(): Promise<OrderedRecords> {
    const until = await readEnds(this.#reader);
    const { component, id } = this.#filter;
    if (component === undefined || id === undefined)
      return new OrderedRecords(this.#reader, this.#ends, until, this.#filter);
    // Other slices have no record of the entity.
    const slice = sliceOf(component, id);
    const ends = this.#ends.slice();
    ends[slice] = until[slice]!;
    return new OrderedRecords(this.#reader, this.#ends, ends, this.#filter);
  }
}

function scannedOf(entry: OrderedRecord | OrderedDamage): ScannedRecord | ScannedDamage {
  const pos = positionText(entry.key);
  if (entry.kind === 'record') {
    const { kind, component, id, record } = entry;
    return { kind, pos, component, id, record };
  }
  const { key: _, ...rest } = entry;
  return { ...rest, pos };
}
