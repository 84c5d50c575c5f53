// FeedPage reads the next records of several slices with one statement, which sends no more text than a page may have.
//
// Invariant: of each slice, a page has the next records without a gap. It ends before a record that is damaged or missing.
import type { EntityRef } from '@svc/model/entity';
import { SvcError } from '@svc/kit/svc-error';
import type { FeedRecord } from '../../../engine/needs/feed.ts';
import { READ_UNITS_MAX } from '../../../engine/needs/journal.ts';
import type { Row } from '../database-session.ts';
import { RECORD_COLUMNS, recordOfRow } from '../record-row.ts';
import { safeNumber } from '../safe-number.ts';
import type { FollowingSession } from '../following-session.ts';
import type { SliceWindow } from './slice-windows.ts';

const safe = (column: string) => `${safeNumber(`j.${column}`)} AS ${column}`;

/**
 * Slices take turns, one record each. The record with which the text of a page is large enough is the last one; its bytes are
 * counted, of which there are at least as many as UTF-16 units. Texts of components that were not asked for are not sent.
 */
const PAGE = {
  name: 'feed-page',
  text: `SELECT j.turn, j.bytes_to, j.is_wanted, j.component, j.id, ${RECORD_COLUMNS}
  FROM (
    SELECT r.*, sum(r.bytes) OVER (ORDER BY r.round, r.turn ROWS UNBOUNDED PRECEDING) AS bytes_to
    FROM (
      SELECT w.turn, n.off - w.after AS round, coalesce(octet_length(n.event), 0) AS bytes, n.*
      FROM unnest($1::int2[], $2::int8[], $3::int8[]) WITH ORDINALITY AS w(slice, after, count, turn)
      CROSS JOIN LATERAL (
        SELECT j.slice, j.off, j.component, j.id, ${safe('seq')}, j.kind, ${safe('time_ms')}, j.manifest, j.seed, j.trace,
          j.key, j.by, ${safe('crc')}, j.component = ANY($4::text[]) AS is_wanted,
          CASE WHEN j.component = ANY($4::text[]) THEN j.event END AS event
        FROM svc.journal j
        WHERE j.slice = w.slice AND j.off > w.after AND j.off <= w.after + w.count
        ORDER BY j.off LIMIT w.count
      ) n
    ) r
  ) j
  WHERE j.bytes_to - j.bytes < $5::int8
  ORDER BY j.round, j.turn`,
};
/** Columns before those of the record. */
const OWN_COLUMNS = 5;
const HEAD = { name: 'feed-head', text: 'SELECT head FROM svc.slice WHERE slice = $1::int2' };

/** A record up to which a slice was read. */
export interface ReadTo {
  readonly slice: number;
  readonly off: number;
  readonly crc: number;
}

export interface ReadRecords {
  readonly records: readonly FeedRecord[];
  /** The last record of each slice that has any. */
  readonly readTo: readonly ReadTo[];
}

/** Reads a page. Rejects with SVC_JOURNAL_CORRUPT if the first record of a slice cannot be read, and as FollowingSession does. */
export async function readPage(
  session: FollowingSession,
  windows: readonly SliceWindow[],
  components: ReadonlySet<string>,
): Promise<ReadRecords> {
  const rows = await session.query(PAGE, [
    windows.map(({ slice }) => slice),
    windows.map(({ after }) => after),
    windows.map(({ count }) => count),
    [...components],
    READ_UNITS_MAX,
  ]);
  const page = new Page(windows, rows.at(-1));
  for (const row of rows) page.add(row);
  const unread = page.unread;
  if (unread === undefined) return page;
  throw unread.failure ?? (await missing(session, unread.slice, unread.off));
}

/** The records of a slice that were read. */
interface ReadSlice extends SliceWindow {
  readonly turn: number;
  readTo: ReadTo | undefined;
  /** Whether a record cannot be read. */
  isBroken: boolean;
  failure: unknown;
}

class Page implements ReadRecords {
  readonly records: FeedRecord[] = [];
  readonly #slices: readonly ReadSlice[];
  /** The turn and the round of the record that ends the page because there is enough text; undefined: all windows were read. */
  readonly #end: readonly [turn: number, round: number] | undefined;

  /** `last`: the last row; undefined if there is none. */
  constructor(windows: readonly SliceWindow[], last: Row | undefined) {
    this.#slices = windows.map((window, index) => ({
      ...window,
      turn: index + 1,
      readTo: undefined,
      isBroken: false,
      failure: undefined,
    }));
    if (last === undefined) return;
    const [turn, bytes] = last as readonly [number, number];
    const off = last[OWN_COLUMNS + 1] as number;
    if (bytes >= READ_UNITS_MAX) this.#end = [turn, off - windows[turn - 1]!.after];
  }

  get readTo(): readonly ReadTo[] {
    return this.#slices.flatMap(({ readTo }) => readTo ?? []);
  }

  /** The first record of a slice that the page has to begin with, and cannot. `failure`: absent if the record is missing. */
  get unread(): { slice: number; off: number; failure: unknown } | undefined {
    const found = this.#slices.find(
      (read) => read.readTo === undefined && (read.isBroken || this.#isInPage(read)),
    );
    return found && { slice: found.slice, off: found.after + 1, failure: found.failure };
  }

  add(row: Row): void {
    const [turn, , isWanted, component, id, slice, off] = row as readonly [
      number,
      number,
      boolean,
      string,
      string,
      number,
      number,
    ];
    const read = this.#slices[turn - 1]!;
    if (read.isBroken) return;
    if (off !== (read.readTo?.off ?? read.after) + 1) {
      read.isBroken = true;
      return;
    }
    try {
      if (isWanted) this.#addRecord({ component, id }, row);
      read.readTo = { slice, off, crc: row.at(-1) as number };
    } catch (error) {
      read.isBroken = true;
      read.failure = error;
    }
  }

  #addRecord(entity: EntityRef, row: Row): void {
    this.records.push({ entity, record: recordOfRow(entity, row.slice(OWN_COLUMNS)) });
  }

  /** Whether the first record of a slice comes before the page has enough text. */
  #isInPage({ turn }: ReadSlice): boolean {
    if (this.#end === undefined) return true;
    const [endTurn, endRound] = this.#end;
    return endRound > 1 || turn <= endTurn;
  }
}

/** Returns why a record is not there that was once on disk. */
async function missing(session: FollowingSession, slice: number, off: number): Promise<SvcError> {
  const [row] = await session.query(HEAD, [slice]);
  const head = row?.[0] as number | undefined;
  if (head !== undefined && head < off) return regressed(slice, off, head, session.shown);
  return new SvcError(
    'SVC_JOURNAL_CORRUPT',
    `The record ${off} of slice ${slice} of the journal ${session.shown} is missing. Restore the database from a backup; ` +
      'entities without damaged records are not affected.',
  );
}

/** Returns the failure of a journal that had the record `off` of a slice, and now ends before it. */
export function regressed(slice: number, off: number, head: number, shown: string): SvcError {
  return new SvcError(
    'SVC_JOURNAL_REGRESSED',
    `Slice ${slice} of the journal ${shown} has gone back: its record ${off} was on disk, and its head is ${head} now. The ` +
      'database has lost what it had confirmed: recover the server that has it, or accept the loss by starting the service again.',
  );
}
