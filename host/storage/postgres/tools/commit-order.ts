// CommitOrder is the order in which tools show the records of a journal in a database: by the number of the transaction that has
// stored them, then by slice, then by the number in the slice. A copied journal keeps the order that it had: each record has a number
// of a range that transactions do not reach, and comes before those that were stored in the database itself.
//
// Invariants
// - The records of a slice, and so those of an entity, stay in their order. Where numbers of transactions go back, because the
//   database was restored from a dump, a record counts as stored with the one before it in its slice.
// - Memory holds keys of some thousand records, whatever the journal has. No text of an event is read.
import { SLICE_COUNT } from '@svc/model/slice';
import type { Parameter, Row, Statement } from '../database-session.ts';

/** Number of the first record of a copied journal, less 1. Transactions of PostgreSQL are numbered from 3 on. */
const COPIED = 2n ** 63n;
/** Number that is subtracted from the positions of copied records, so that they are less than every transaction, and still safe integers. */
const COPIED_LESS = 2 ** 52;
/** Keys that are asked for at once, divided among the slices; least and greatest number of those of a slice. */
const KEYS_AT_ONCE = 65_536;
const KEYS_MIN = 32;
const KEYS_MAX = 512;

const KEYS = {
  name: 'tool-order',
  text: `SELECT w.slice, n.off, n.tx, n.bytes FROM unnest($1::int2[], $2::int8[], $3::int8[]) AS w(slice, after, until)
  CROSS JOIN LATERAL (
    SELECT j.off, j.tx::text AS tx, coalesce(octet_length(j.event), 0) AS bytes FROM svc.journal j
    WHERE j.slice = w.slice AND j.off > w.after AND j.off <= w.until ORDER BY j.off LIMIT $4
  ) n ORDER BY w.slice, n.off`,
};
const HEADS = { name: 'tool-heads', text: 'SELECT slice, head FROM svc.slice WHERE head > 0' };
/** Reads for each slice the transaction that has stored its record of a number. */
const TRANSACTIONS = {
  name: 'tool-transactions',
  text: `SELECT w.slice, j.tx::text FROM unnest($1::int2[], $2::int8[]) AS w(slice, off)
  LEFT JOIN svc.journal j ON j.slice = w.slice AND j.off = w.off`,
};

/** A record in the order. */
export interface OrderedKey {
  /** Number of the transaction; less than 0 for a copied record. */
  readonly tx: number;
  readonly slice: number;
  readonly off: number;
  /** Bytes of its event. */
  readonly bytes: number;
}

export interface OrderReader {
  query(statement: Statement, values?: readonly Parameter[]): Promise<readonly Row[]>;
}

/** The number of the last record of each slice. */
export type SliceEnds = Float64Array;

/** Returns the ends of an empty journal. */
export function noRecords(): SliceEnds {
  return new Float64Array(SLICE_COUNT);
}

/** Reads the ends of all slices. */
export async function readEnds(reader: OrderReader): Promise<SliceEnds> {
  const ends = noRecords();
  for (const [slice, head] of await reader.query(HEADS)) ends[slice as number] = head as number;
  return ends;
}

export function sumOf(ends: SliceEnds): number {
  return ends.reduce((sum, off) => sum + off, 0);
}

/** Returns the number that stores the place of a copied record in the order, as text. `pos`: from 1 on. */
export function copiedTx(pos: number): string {
  return String(COPIED + BigInt(pos));
}

type KeyRow = readonly [slice: number, off: number, tx: string, bytes: number];

interface OpenSlice {
  readonly slice: number;
  readonly until: number;
  /** The keys that were read and not given out yet, in their order. */
  keys: OrderedKey[];
  last: OrderedKey;
  /** Whether all keys were read. */
  isRead: boolean;
}

export class CommitOrder {
  readonly #reader: OrderReader;
  #open: OpenSlice[];

  /** The records after `from` and up to `until`. */
  constructor(reader: OrderReader, from: SliceEnds, until: SliceEnds) {
    this.#reader = reader;
    this.#open = Array.from(until, (end, slice) => ({
      slice,
      until: end,
      keys: [],
      last: { tx: -Infinity, slice, off: from[slice]!, bytes: 0 },
      isRead: false,
    })).filter(({ last, until: end }) => last.off < end);
  }

  /** Returns the next keys in the order; none: there are no more. Records that are missing have none. */
  async next(): Promise<readonly OrderedKey[]> {
    for (;;) {
      if (this.#open.length === 0) return [];
      await this.#read();
      const ends = this.#open.filter(({ isRead }) => !isRead).map(({ last }) => last);
      const bound = ends.reduce<OrderedKey | undefined>(
        (least, last) => (least === undefined || compareKeys(last, least) < 0 ? last : least),
        undefined,
      );
      const ready: OrderedKey[] = [];
      for (const open of this.#open) {
        const count =
          bound === undefined
            ? open.keys.length
            : open.keys.findLastIndex((key) => compareKeys(key, bound) <= 0) + 1;
        for (const key of open.keys.splice(0, count)) ready.push(key);
      }
      this.#open = this.#open.filter(({ isRead, keys }) => !isRead || keys.length > 0);
      if (ready.length > 0) return ready.toSorted(compareKeys);
    }
  }

  /** Reads more keys of each slice of which few are left, among them all those that hold up others. */
  async #read(): Promise<void> {
    const asked = this.#open.filter(({ isRead, keys }) => !isRead && keys.length < KEYS_MIN / 2);
    if (asked.length === 0) return;
    const limit = Math.max(KEYS_MIN, Math.min(KEYS_MAX, Math.floor(KEYS_AT_ONCE / asked.length)));
    const rows = await this.#reader.query(KEYS, [
      asked.map(({ slice }) => slice),
      asked.map(({ last }) => last.off),
      asked.map(({ until }) => until),
      limit,
    ]);
    const found = Map.groupBy(rows, ([slice]) => slice as number);
    for (const open of asked) {
      const read = found.get(open.slice) ?? [];
      for (const [, off, tx, bytes] of read as unknown as readonly KeyRow[]) {
        open.last = {
          tx: Math.max(open.last.tx, orderOf(tx)),
          slice: open.slice,
          off,
          bytes,
        };
        open.keys.push(open.last);
      }
      open.isRead = read.length < limit || open.last.off >= open.until;
    }
  }
}

/**
 * Returns how far each slice is after the record of a key and all before it. It follows from numbers of transactions that grow in each
 * slice.
 */
export async function endsAfter(
  reader: OrderReader,
  key: Omit<OrderedKey, 'bytes'>,
  heads: SliceEnds,
): Promise<SliceEnds> {
  const ends = noRecords();
  // In each slice, records up to `ends` are before the key, and those from `above` on are after it.
  const above = Float64Array.from(heads, (head) => head + 1);
  for (;;) {
    const open = Array.from(ends.keys()).filter((slice) => above[slice]! - ends[slice]! > 1);
    if (open.length === 0) return ends;
    const middle = open.map((slice) => Math.floor((ends[slice]! + above[slice]!) / 2));
    const middles = new Map(open.map((slice, index) => [slice, middle[index]!]));
    for (const [slice, tx] of await reader.query(TRANSACTIONS, [open, middle])) {
      const off = middles.get(slice as number)!;
      // A record that is missing counts as one that is before.
      const found = tx === null ? -Infinity : orderOf(tx as string);
      const isUpTo = compareKeys({ tx: found, slice: slice as number, off }, key) <= 0;
      (isUpTo ? ends : above)[slice as number] = off;
    }
  }
}

/** Returns the last one of the last records of all slices; undefined: there are no records. */
export async function lastKey(
  reader: OrderReader,
  heads: SliceEnds,
): Promise<Omit<OrderedKey, 'bytes'> | undefined> {
  const slices = Array.from(heads.keys()).filter((slice) => heads[slice]! > 0);
  const offs = slices.map((slice) => heads[slice]!);
  const rows = (await reader.query(TRANSACTIONS, [slices, offs])) as readonly [
    number,
    string | null,
  ][];
  return rows
    .map(([slice, tx]) => ({ tx: tx === null ? 0 : orderOf(tx), slice, off: heads[slice]! }))
    .toSorted(compareKeys)
    .at(-1);
}

export function compareKeys(a: Omit<OrderedKey, 'bytes'>, b: Omit<OrderedKey, 'bytes'>): number {
  return a.tx - b.tx || a.slice - b.slice || a.off - b.off;
}

function orderOf(tx: string): number {
  const number = BigInt(tx);
  return number < COPIED ? Number(number) : Number(number - COPIED) - COPIED_LESS;
}

const COPIED_MARK = 'c';

/** Returns the text of a position after a record: `TRANSACTION.SLICE.NUMBER`, with `c` before the number of a copied record. */
export function positionText({ tx, slice, off }: Omit<OrderedKey, 'bytes'>): string {
  const number = tx < 0 ? `${COPIED_MARK}${tx + COPIED_LESS}` : String(tx);
  return `${number}.${slice}.${off}`;
}

/** Returns the position in a text; undefined if there is none. */
export function parsePosition(text: string): Omit<OrderedKey, 'bytes'> | undefined {
  const [, mark, ...digits] = /^(c?)(\d{1,16})\.(\d{1,4})\.(\d{1,16})$/.exec(text) ?? [];
  const [tx, slice, off] = digits.map(Number);
  if (tx === undefined || !Number.isSafeInteger(tx) || !Number.isSafeInteger(off)) return undefined;
  if (slice! >= SLICE_COUNT) return undefined;
  return { tx: mark === '' ? tx : tx - COPIED_LESS, slice: slice!, off: off! };
}
