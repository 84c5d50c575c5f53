// Feed is what followers of a journal need of it: views and consumers, which read the records of all entities after they
// are on disk.
//
// Invariants
// F1  The records of an entity come in their order. The order between entities is not promised: it may differ in another
//     journal with the same records, or when the same records are read again.
// F2  A record that was not on disk when a page was read comes in a later page: no position is ever past a record that
//     may still be stored.
// F3  A position is a text that only the feed interprets. It stays valid for as long as the journal exists.
import type { Awaitable } from '@svc/model/call';
import type { EntityRef, JournalRecord } from '@svc/model/entity';

/** A position between records of a feed: those before it were read, those after it were not. */
export type Position = string;

/** A record of an entity, in the order of a feed. */
export interface FeedRecord {
  readonly entity: EntityRef;
  readonly record: JournalRecord;
}

export interface FeedPage {
  /** Records of the components that were asked for. The list may be empty although more records follow. */
  readonly records: readonly FeedRecord[];
  /** The position after the page. If it is the position that was asked for, nothing more is on disk. */
  readonly position: Position;
}

/** Positions of a journal, which can be compared without reading it. */
export interface Positions {
  /** The position before the first record. */
  readonly start: Position;
  /** Returns the position after the last record that is on disk. Every append that has settled is before it. */
  end(): Position;
  /** Returns a position that is after each record of these entities that is on disk, and after everything before `after`. */
  endOf(entities: readonly EntityRef[], after: Position): Position;
  /** Whether everything before `wanted` is also before `position`. */
  hasReached(position: Position, wanted: Position): boolean;
  /** Returns the number of records from one position to a later one. */
  count(from: Position, to: Position): number;
  /** Returns the position that a text stands for; undefined if it stands for none. The text may come from anybody. */
  parse(text: string): Position | undefined;
  /**
   * Resolves once `end` has everything that is on disk at the time of the call. Rejects with SVC_JOURNAL_UNAVAILABLE. Absent: it has
   * that always, because nobody else writes.
   */
  readonly catchUp?: (() => Promise<void>) | undefined;
}

export interface Feed extends Positions {
  /**
   * Looks at the next `limit` records after a position at most, and returns those of `components`, none after the
   * record with which their JSON text reaches READ_UNITS_MAX. A page ends before a damaged record; the page that
   * would begin with one throws SVC_JOURNAL_CORRUPT. Returns a plain value if nothing has to be waited for. Throws, or
   * rejects with, SVC_JOURNAL_UNAVAILABLE.
   */
  read(after: Position, limit: number, components: ReadonlySet<string>): Awaitable<FeedPage>;
  /**
   * Returns a text that identifies the last record before the position, so that a follower can tell whether the position
   * that it has kept belongs to this journal; undefined if there is no such record. Throws as `read` does.
   */
  mark(position: Position): Awaitable<string | undefined>;
  /** Resolves once a record is on disk after the position, or the feed is closed. */
  advancedPast(position: Position): Promise<void>;
  /** Closes the feed. Reads that have not answered yet settle soon: with what they have read, or with a failure. */
  close(): void;
}
