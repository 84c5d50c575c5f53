// OrderedRecords reads the records of a journal in the order in which tools show them, page by page, and continues past damage.
import type { JournalRecord } from '@svc/model/entity';
import { READ_UNITS_MAX } from '../../../engine/needs/journal.ts';
import type { RecordFilter } from '../../journal-scan.ts';
import type { Parameter } from '../database-session.ts';
import { CommitOrder, type OrderedKey, type OrderReader, type SliceEnds } from './commit-order.ts';
import { NOT_WRITTEN, READABLE_COLUMNS, SEQ, missing, readableRecord } from './readable-record.ts';

/** Records of a page at most. */
const PAGE_RECORDS = 1_000;
/** Bytes of events after which a page ends. */
const PAGE_BYTES = READ_UNITS_MAX;
/** Columns before those of the record. */
const OWN_COLUMNS = 4;

/** A key without its bytes. */
type Key = Omit<OrderedKey, 'bytes'>;

export interface OrderedRecord {
  readonly kind: 'record';
  readonly key: Key;
  /** How many records are before it in the order, and itself. */
  readonly nth: number;
  readonly component: string;
  readonly id: string;
  readonly record: JournalRecord;
  /** Number of the module that has stored it; undefined: it is not known. */
  readonly module: number | undefined;
}

export interface OrderedDamage {
  readonly kind: 'damaged';
  readonly key: Key;
  readonly component?: string;
  readonly id?: string;
  readonly seq?: number;
  /** Whether there is a row. */
  readonly isStored: boolean;
  readonly problem: string;
}

export interface OrderedPage {
  readonly entries: readonly (OrderedRecord | OrderedDamage)[];
  /** True: no record follows. */
  readonly isLast: boolean;
}

export class OrderedRecords {
  /** The number of the last record of each slice that was read. */
  readonly ends: SliceEnds;
  readonly #reader: OrderReader;
  readonly #order: CommitOrder;
  readonly #until: SliceEnds;
  readonly #filter: RecordFilter;
  readonly #condition: string;
  readonly #values: readonly Parameter[];
  readonly #isFiltered: boolean;
  #keys: readonly OrderedKey[] = [];
  #at = 0;
  #count = 0;
  #last: Key | undefined;

  /** The records after `from` and up to `until` that meet the conditions of a filter. */
  constructor(reader: OrderReader, from: SliceEnds, until: SliceEnds, filter: RecordFilter = {}) {
    this.ends = from.slice();
    this.#reader = reader;
    this.#until = until;
    this.#order = new CommitOrder(reader, from, until);
    this.#filter = filter;
    this.#isFiltered = Object.values(filter).some((value) => value !== undefined);
    const parts = conditionsOf(filter);
    this.#condition = parts
      .map(([sql], index) => ` AND ${sql.replace('?', `$${index + 3}`)}`)
      .join('');
    this.#values = parts.map(([, value]) => value);
  }

  /** The last record that was read, whether it meets the conditions or not; undefined: none was. */
  get last(): Key | undefined {
    return this.#last;
  }

  /** Returns the next entries, at most `limit` and one for each hole. A page before the last one may be empty. */
  async page(limit: number): Promise<OrderedPage> {
    await this.#readKeys();
    const entries = await this.#entries(this.#nextKeys(), limit);
    const isLast = (await this.#readKeys()).length === 0;
    return { entries: isLast ? [...entries, ...this.#lastHoles()] : entries, isLast };
  }

  async #entries(
    keys: readonly OrderedKey[],
    limit: number,
  ): Promise<readonly (OrderedRecord | OrderedDamage)[]> {
    if (keys.length === 0) return [];
    const rows = await this.#reader.query(this.#statement, [
      keys.map(({ slice }) => slice),
      keys.map(({ off }) => off),
      ...this.#values,
    ]);
    const found = new Map(rows.map((row) => [(row[0] as number) - 1, row]));
    const entries: (OrderedRecord | OrderedDamage)[] = [];
    for (const [index, key] of keys.entries()) {
      if (entries.length >= limit) break;
      this.#at++;
      this.#count++;
      if (!this.#isFiltered) entries.push(...this.#holeBefore(key));
      this.ends[key.slice] = key.off;
      this.#last = key;
      const row = found.get(index);
      const entry = row && entryOf(key, this.#count, row);
      if (entry !== undefined && this.#meets(entry)) entries.push(entry);
    }
    return entries;
  }

  get #statement() {
    return {
      text: `SELECT k.nth, j.component, j.id, j.module, ${READABLE_COLUMNS}
  FROM unnest($1::int2[], $2::int8[]) WITH ORDINALITY AS k(slice, off, nth)
  JOIN svc.journal j ON j.slice = k.slice AND j.off = k.off${this.#condition} ORDER BY k.nth`,
    };
  }

  /** Returns the keys that were read last; none: there are no more. */
  async #readKeys(): Promise<readonly OrderedKey[]> {
    if (this.#at < this.#keys.length) return this.#keys;
    this.#keys = await this.#order.next();
    this.#at = 0;
    return this.#keys;
  }

  /** Returns the keys of a page, which stay the next ones. */
  #nextKeys(): readonly OrderedKey[] {
    let bytes = 0;
    const keys: OrderedKey[] = [];
    for (const key of this.#keys.slice(this.#at, this.#at + PAGE_RECORDS)) {
      keys.push(key);
      bytes += key.bytes;
      if (bytes >= PAGE_BYTES) break;
    }
    return keys;
  }

  #holeBefore(key: OrderedKey): readonly OrderedDamage[] {
    const from = this.ends[key.slice]! + 1;
    return key.off === from ? [] : [hole({ ...key, off: from }, key.off - 1)];
  }

  /** Returns a hole for each slice whose last records are missing. */
  #lastHoles(): readonly OrderedDamage[] {
    const holes: OrderedDamage[] = [];
    for (const [slice, until] of this.#until.entries()) {
      const from = this.ends[slice]! + 1;
      if (from > until) continue;
      this.ends[slice] = until;
      if (!this.#isFiltered) holes.push(hole({ tx: 0, slice, off: from }, until));
    }
    return holes;
  }

  /** Whether a record meets the conditions that are not in the statement, because they look into JSON. */
  #meets(entry: OrderedRecord | OrderedDamage): boolean {
    const { type, by } = this.#filter;
    if (type === undefined && by === undefined) return true;
    if (entry.kind === 'damaged') return false;
    const { record } = entry;
    const json = record.kind === 'event' ? record.event.json : undefined;
    return (
      (type === undefined || memberOf(json, 'type') === type) &&
      (by === undefined || memberOf(record.by, 1) === by)
    );
  }
}

/** Conditions of a statement, each with its value. */
function conditionsOf(filter: RecordFilter): (readonly [sql: string, value: Parameter])[] {
  const { component, id, manifest, trace, keyPrefix, sinceMs, untilMs } = filter;
  const all: (readonly [sql: string, value: Parameter | undefined])[] = [
    ['j.component = ?', component],
    ['j.id = ?', id],
    ['j.manifest = ?', manifest],
    ['j.trace = ?', trace],
    ['starts_with(j.key, ?)', keyPrefix],
    ['j.time_ms >= ?', sinceMs],
    ['j.time_ms < ?', untilMs],
  ];
  return all.filter((part): part is readonly [string, Parameter] => part[1] !== undefined);
}

function entryOf(
  { tx, slice, off }: OrderedKey,
  nth: number,
  row: readonly unknown[],
): OrderedRecord | OrderedDamage {
  const [, component, id, module] = row as readonly [number, string, string, number | null];
  const stored = row.slice(OWN_COLUMNS);
  const record = readableRecord({ component, id }, stored);
  const key = { tx, slice, off };
  if (record !== undefined)
    return { kind: 'record', key, nth, component, id, record, module: module ?? undefined };
  const seq = stored[SEQ] as number;
  return { kind: 'damaged', key, component, id, seq, isStored: true, problem: NOT_WRITTEN };
}

function hole({ tx, slice, off }: Key, to: number): OrderedDamage {
  const problem = `of slice ${slice}, ${missing('record', off, to)}`;
  return { kind: 'damaged', key: { tx, slice, off }, isStored: false, problem };
}

/** Returns a member of the value in a JSON text; undefined if there is none. */
function memberOf(json: string | undefined, name: string | number): unknown {
  try {
    return (JSON.parse(json ?? 'null') as Record<string | number, unknown> | null)?.[name];
  } catch {
    return undefined;
  }
}
