// SqliteScan is the scan of a journal in a data folder. It continues past records that SQLite cannot read.
//
// A page is one short read: as many positions as are read in some milliseconds, however many of them match the filter.
import type { SQLInputValue } from 'node:sqlite';
import { SvcError } from '@svc/kit/svc-error';
import type {
  JournalScan,
  RecordFilter,
  ScannedDamage,
  ScannedPage,
  ScannedRecord,
} from '../../journal-scan.ts';
import { recordOf } from '../journal-reader.ts';
import { type RecordRow, recordColumns } from '../journal-schema.ts';
import { ReadingConnection, type StoredRow } from './reading-connection.ts';

/** A record with its row, as it is stored. */
export interface ScannedRow extends ScannedRecord<number> {
  /** It has the record's checksum. */
  readonly row: RecordRow;
}

/** UTF-16 units of JSON text after which a page ends; each event may be a megabyte long. */
const PAGE_UNITS_MAX = 4 * 1024 * 1024;
/** Least and greatest number of positions that a page covers. */
const POSITIONS_MIN = 256;
const POSITIONS_MAX = 65_536;
/** Duration of a page that the scan aims at, in milliseconds: it adapts the number of positions of the next page. */
const PAGE_MS = 20;

const POSITION_MAX = Number.MAX_SAFE_INTEGER;
const LAST = () => `SELECT max(pos) FROM journal WHERE pos <= ${POSITION_MAX}`;
const NEXT = () => `SELECT min(pos) FROM journal WHERE pos > ? AND pos <= ${POSITION_MAX}`;
/** The number of columns of a stored row before those of `recordColumns`. */
const NAMES = 2;
const JSON_COLUMN = NAMES + 5;

export class SqliteScan implements JournalScan {
  readonly start = 0;
  readonly #connection: ReadingConnection;
  readonly #filter: RecordFilter;
  readonly #isFiltered: boolean;
  /** Number of positions that the next page covers. */
  #positions = POSITIONS_MIN;

  /** Throws SVC_JOURNAL_MISSING, SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT and SVC_DATA_UNUSABLE. */
  constructor(dir: string, filter: RecordFilter = {}) {
    this.#connection = new ReadingConnection(dir);
    this.#filter = filter;
    this.#isFiltered = Object.values(filter).some((value) => value !== undefined);
  }

  parse(text: string): number | undefined {
    return /^[0-9]{1,15}$/.test(text) ? Number(text) : undefined;
  }

  lastPos(): number {
    return positionIn(this.#connection.rows(LAST, [])) ?? 0;
  }

  /** `untilPos`: the last position of the page at most. Missing: the last one of the journal. */
  page(
    afterPos: number,
    limit: number,
    untilPos = this.lastPos(),
  ): ScannedPage<number, ScannedRow> {
    const next = this.#next(afterPos);
    if (next === undefined || next > untilPos)
      return { entries: [], lastPos: afterPos, isLast: true };
    // A hole of any size is skipped in one step.
    const from = next - 1;
    const to = Math.min(from + this.#positions, untilPos);
    const startedMs = performance.now();
    const read = this.#read(from, to, limit);
    this.#adapt(performance.now() - startedMs);
    if (this.#isFiltered) return { ...read, isLast: read.lastPos >= untilPos };
    // A hole after the last entry is reported by the page that finds its end.
    const lastPos = read.entries.at(-1)?.pos ?? read.lastPos;
    return { entries: withHoles(read.entries, afterPos), lastPos, isLast: lastPos >= untilPos };
  }

  /** The log of a journal that is open cannot be shortened. */
  rest(): void {
    this.close();
  }

  close(): void {
    this.#connection.close();
  }

  /** Returns the first position after this one that has a record or cannot be read; undefined if there is none. */
  #next(afterPos: number): number | undefined {
    try {
      return positionIn(this.#connection.rows(NEXT, [afterPos]));
    } catch (error) {
      if (!isDamage(error)) throw error;
      return afterPos + 1;
    }
  }

  /** Reads the positions after `from` up to `to`; a range that cannot be read is read in halves. */
  #read(from: number, to: number, limit: number): Omit<ScannedPage<number, ScannedRow>, 'isLast'> {
    let units = 0;
    try {
      const { condition, values } = conditionOf(this.#filter);
      const rows = this.#connection.rows(
        (format) => `SELECT component, id, ${recordColumns(format)}
          FROM journal LEFT JOIN entity USING (eno)
          WHERE pos > ? AND pos <= ? ${condition(format)} ORDER BY pos LIMIT ?`,
        [from, to, ...values, limit],
        (row) => {
          const json = row[JSON_COLUMN];
          units += typeof json === 'string' ? json.length : 0;
          return units >= PAGE_UNITS_MAX;
        },
      );
      const isCut = rows.length >= limit || units >= PAGE_UNITS_MAX;
      return { entries: rows.map(entryOf), lastPos: isCut ? Number(rows.at(-1)![NAMES]) : to };
    } catch (error) {
      if (!isDamage(error)) throw error;
      if (to - from === 1) return { entries: [unreadable(to, error)], lastPos: to };
    }
    const middle = from + Math.floor((to - from) / 2);
    const first = this.#read(from, middle, limit);
    const room = limit - first.entries.length;
    if (first.lastPos < middle || room <= 0) return first;
    const second = this.#read(middle, to, room);
    return { entries: [...first.entries, ...second.entries], lastPos: second.lastPos };
  }

  #adapt(tookMs: number): void {
    if (tookMs < PAGE_MS / 2) this.#positions = Math.min(this.#positions * 2, POSITIONS_MAX);
    else if (tookMs > PAGE_MS) this.#positions = Math.max(this.#positions / 2, POSITIONS_MIN);
  }
}

function positionIn(rows: readonly StoredRow[]): number | undefined {
  const pos = rows[0]?.[0] ?? undefined;
  return pos === undefined ? undefined : Number(pos);
}

function isDamage(error: unknown): boolean {
  return error instanceof SvcError && error.code === 'SVC_JOURNAL_CORRUPT';
}

function conditionOf(filter: RecordFilter): {
  readonly condition: (format: number) => string;
  readonly values: readonly SQLInputValue[];
} {
  const { component, id, manifest, type, trace, keyPrefix, by, sinceMs, untilMs } = filter;
  const parts: (readonly [sql: string, sinceFormat: number, ...values: SQLInputValue[]])[] = [];
  if (component !== undefined) parts.push(['component = ?', 1, component]);
  if (id !== undefined) parts.push(['id = ?', 1, id]);
  if (manifest !== undefined) parts.push(['manifest = ?', 1, manifest]);
  if (type !== undefined)
    parts.push([`iif(json_valid(json), json ->> '$.type', NULL) = ?`, 1, type]);
  if (sinceMs !== undefined) parts.push(['time_ms >= ?', 1, sinceMs]);
  if (untilMs !== undefined) parts.push(['time_ms < ?', 1, untilMs]);
  if (trace !== undefined) parts.push(['trace = ?', 3, trace]);
  if (keyPrefix !== undefined)
    parts.push(['substr(key, 1, length(?)) = ?', 3, keyPrefix, keyPrefix]);
  if (by !== undefined) parts.push([`iif(json_valid(by), by ->> '$[1]', NULL) = ?`, 6, by]);
  return {
    // A column that the format does not have is NULL, so that the parameters stay in their order.
    condition: (format) =>
      parts
        .map(
          ([sql, since]) =>
            ` AND ${format >= since ? sql : sql.replaceAll(/\b(trace|key|by)\b/g, 'NULL')}`,
        )
        .join(''),
    values: parts.flatMap(([, , ...values]) => values),
  };
}

function entryOf(stored: StoredRow): ScannedRow | ScannedDamage<number> {
  const [component, id] = stored;
  // Numbers are read as bigints.
  const row = stored
    .slice(NAMES)
    .map((value) => (typeof value === 'bigint' ? Number(value) : value)) as unknown as RecordRow;
  const [pos, seq] = row;
  if (typeof component !== 'string' || typeof id !== 'string')
    return { kind: 'damaged', pos, seq, isStored: true, problem: 'it belongs to no entity' };
  try {
    return { kind: 'record', pos, component, id, record: recordOf({ component, id }, row), row };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    const problem = 'it is not what was written';
    return { kind: 'damaged', pos, component, id, seq, isStored: true, problem };
  }
}

function unreadable(pos: number, error: unknown): ScannedDamage<number> {
  const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
  return { kind: 'damaged', pos, isStored: false, problem: `it cannot be read: ${reason}` };
}

/** Returns the entries, with one more for each gap between their positions. */
function withHoles(
  entries: readonly (ScannedRow | ScannedDamage<number>)[],
  afterPos: number,
): readonly (ScannedRow | ScannedDamage<number>)[] {
  let last = afterPos;
  return entries.flatMap((entry) => {
    const from = last + 1;
    last = entry.pos;
    if (entry.pos === from) return [entry];
    const problem = missing(from, entry.pos - 1);
    return [{ kind: 'damaged', pos: from, isStored: false, problem } as const, entry];
  });
}

function missing(from: number, to: number): string {
  return from === to
    ? `the record at position ${from} is missing`
    : `the records at positions ${from} to ${to} are missing`;
}
