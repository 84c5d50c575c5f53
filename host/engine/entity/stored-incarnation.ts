// StoredIncarnation: the current incarnation of an entity as the journal of a running service holds it, page by page. Only
// what is on disk belongs to it, so nothing of the entity may be about to be appended.
import type { Awaitable } from '../../model/call.ts';
import type { EntityRef, JournalRecord, StoredEvent } from '../../model/entity.ts';
import type { IncarnationStart, Journal } from '../needs/journal.ts';
import { eventsInOrder } from './history.ts';
import type { Incarnation } from './incarnation.ts';

/** Records that are read at once. */
export const PAGE_RECORDS = 1_000;
/** Records of the first page of a journal that has a cheaper read for the events that follow. */
const FIRST_RECORDS = 100;

type ReadJournal = Pick<Journal, 'read' | 'incarnation' | 'eventsAfter'>;

/** Begins with the snapshot of this fingerprint, if there is one. Throws, or rejects, as `Journal.incarnation` does. */
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
  /** The last page has as many events as were asked for: they are small, and so may be those that follow. */
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

/** Throws SVC_JOURNAL_CORRUPT. */
function eventsOf(
  entity: EntityRef,
  records: readonly JournalRecord[],
  afterSeq: number,
): readonly StoredEvent[] {
  return eventsInOrder(entity, records, afterSeq).map((record) => record.event);
}
