// StoredIncarnation reads the current incarnation of an entity from the journal of a running service, page by page. The
// incarnation consists of the records that are on disk, so no append of the entity may be under way.
import type { Awaitable } from '@svc/model/call';
import type { EntityRef, JournalRecord, StoredEvent } from '@svc/model/entity';
import type { IncarnationStart, Journal } from '../needs/journal.ts';
import { eventsInOrder } from './history.ts';
import type { Incarnation } from './incarnation.ts';

/** Most records of a page. */
export const PAGE_RECORDS = 1_000;
/** Most records of the first page, if the journal has a cheaper read (`eventsAfter`) for the events that follow it. */
const FIRST_RECORDS = 100;

type ReadJournal = Pick<Journal, 'read' | 'incarnation' | 'eventsAfter'>;

/**
 * Reads the snapshot of this fingerprint, if there is one, and the first page. Throws, or rejects, as `Journal.incarnation`
 * does.
 */
export function storedIncarnation(
  journal: ReadJournal,
  entity: EntityRef,
  fingerprint: string | undefined,
): Awaitable<Incarnation> {
  const limit = journal.eventsAfter === undefined ? PAGE_RECORDS : FIRST_RECORDS;
  const start = journal.incarnation(entity, limit, fingerprint);
  return start instanceof Promise
    ? start.then((later) => new StoredIncarnation(journal, entity, later, limit))
    : new StoredIncarnation(journal, entity, start, limit);
}

class StoredIncarnation implements Incarnation {
  readonly entity: EntityRef;
  readonly afterSeq: number;
  readonly snapshot: string | undefined;
  readonly lastSeq: number;
  readonly #journal: ReadJournal;
  readonly #first: readonly StoredEvent[];
  /** Whether the last page had as many events as it could: events are small, and the cheaper read is worthwhile. */
  #isFull: boolean;

  /** Throws SVC_JOURNAL_CORRUPT. */
  constructor(journal: ReadJournal, entity: EntityRef, start: IncarnationStart, limit: number) {
    const { afterSeq, snapshot, records, isWhole } = start;
    this.#journal = journal;
    this.entity = entity;
    this.afterSeq = afterSeq;
    this.snapshot = snapshot;
    this.#first = eventsOf(entity, records, afterSeq);
    this.#isFull = this.#first.length === limit;
    const isEnd = isWhole || records.length === 0;
    this.lastSeq = isEnd ? afterSeq + records.length : Infinity;
  }

  eventsAfter(seq: number): Awaitable<readonly StoredEvent[]> {
    if (seq === this.afterSeq) return this.#first;
    const limit = PAGE_RECORDS;
    const events = this.#isFull ? (this.#journal.eventsAfter?.(this.entity, seq, limit) ?? []) : [];
    if (events.length > 0) {
      this.#isFull = events.length === limit;
      return events;
    }
    return this.#journal.read(this.entity, seq, limit).then((records) => {
      this.#isFull = records.length === limit;
      return eventsOf(this.entity, records, seq);
    });
  }
}

/** Returns the events of the records, which follow `afterSeq`. Throws SVC_JOURNAL_CORRUPT. */
function eventsOf(
  entity: EntityRef,
  records: readonly JournalRecord[],
  afterSeq: number,
): readonly StoredEvent[] {
  return eventsInOrder(entity, records, afterSeq).map((record) => record.event);
}
