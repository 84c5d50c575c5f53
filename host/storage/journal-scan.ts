// JournalScan reads the records of all entities in commit order, by pages, also while a host writes the journal. It continues
// past damaged records: its entries for these say what is wrong. Every implementation of the journal has one.
import type { Awaitable } from '@svc/model/call';
import type { JournalRecord } from '@svc/model/entity';

/** The conditions that a record has to meet; undefined: no condition. */
export interface RecordFilter {
  readonly component?: string | undefined;
  readonly id?: string | undefined;
  readonly manifest?: string | undefined;
  /** The event's case: the member `type` of its JSON. */
  readonly type?: string | undefined;
  readonly trace?: string | undefined;
  /** Prefix of the idempotency key. */
  readonly keyPrefix?: string | undefined;
  /** Subject of the author, whoever has issued the token. */
  readonly by?: string | undefined;
  /** The record has this time or a later one, in milliseconds since 1970. */
  readonly sinceMs?: number | undefined;
  /** The record has an earlier time, in milliseconds since 1970. */
  readonly untilMs?: number | undefined;
}

/** A position in the order: a number where the journal has one order, otherwise a text of the journal's own. */
export type ScanPosition = number | string;

export interface ScannedRecord<Pos extends ScanPosition = ScanPosition> {
  readonly kind: 'record';
  readonly pos: Pos;
  readonly component: string;
  readonly id: string;
  readonly record: JournalRecord;
}

/** Damage at a position of the journal. */
export interface ScannedDamage<Pos extends ScanPosition = ScanPosition> {
  readonly kind: 'damaged';
  readonly pos: Pos;
  readonly component?: string;
  readonly id?: string;
  readonly seq?: number;
  /** Whether the table has a row at the position. */
  readonly isStored: boolean;
  readonly problem: string;
}

export interface ScannedPage<
  Pos extends ScanPosition = ScanPosition,
  Scanned = ScannedRecord<Pos>,
> {
  readonly entries: readonly (Scanned | ScannedDamage<Pos>)[];
  /** The `afterPos` of the next page. */
  readonly lastPos: Pos;
  /** True: no record follows the page. False: there may be one. */
  readonly isLast: boolean;
}

export interface JournalScan {
  /** The position before the first record. */
  readonly start: ScanPosition;
  /** Returns the position that a text stands for; undefined if it stands for none. The text may come from anybody. */
  parse(text: string): ScanPosition | undefined;
  /** Returns the position of the last record; `start` when there is none. Throws as `page` does. */
  lastPos(): Awaitable<ScanPosition>;
  /**
   * Returns entries after a position, at most `limit`, and without a filter one more for each hole between them; a page before the
   * last one may be empty. Throws, or rejects with, SVC_JOURNAL_CORRUPT when nothing can be read at all, SVC_JOURNAL_NEWER and
   * SVC_JOURNAL_UNAVAILABLE.
   */
  page(afterPos: ScanPosition, limit: number): Awaitable<ScannedPage>;
  /** Lets go of what must not be held during a pause; the next page takes it again. */
  rest(): void;
  /** Closes the connection; the next page opens it again. */
  close(): void;
}
