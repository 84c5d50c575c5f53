// IncarnationAt is the part of an entity's history from the beginning of an incarnation up to a given point, read with
// JournalInspection. If the point is a deletion, the deletion is the last record.
//
// The time of a record is the clock's time at its command. A clock may jump, so times need not increase with the
// sequence number. A point in time lies directly before the first record, in the order of sequence numbers, that has a
// later time.
import { entityName } from '../engine/entity/history.ts';
import type { Incarnation } from '../engine/entity/incarnation.ts';
import type { EntityRef, JournalRecord, StoredEvent } from '@svc/model/entity';
import { SvcError } from '@svc/kit/svc-error';
import type { InspectedRecord, JournalInspection } from '../storage/journal-inspection.ts';

/** A point of an entity's history. `seq` 0 is the point before its first record. */
export type HistoryPoint =
  | { readonly kind: 'end' }
  | { readonly kind: 'seq'; readonly seq: number }
  | { readonly kind: 'time'; readonly timeMs: number };

/** Number of records per page. It is small, since each event may be a megabyte long. */
const PAGE_RECORDS = 64;

export class IncarnationAt implements Incarnation {
  readonly #inspection: JournalInspection;
  readonly entity: EntityRef;
  readonly afterSeq: number;
  /** Sequence number of the last event at the point; equal to `afterSeq` before the first event. */
  readonly lastSeq: number;
  /** Sequence number of the last record at the point, which may be the deletion. */
  readonly seq: number;
  /** Time of the record `seq`, in milliseconds since 1970; undefined before the first record. */
  readonly timeMs: number | undefined;
  /** True if the record `seq` is the deletion that ends the incarnation; the state is then the empty state. */
  readonly isDeleted: boolean;

  /**
   * Finds the incarnation in which the point lies. Rejects with SVC_NOT_IN_JOURNAL if the entity or the record does not
   * exist, SVC_JOURNAL_CORRUPT if a record of the incarnation up to the point is damaged, and the errors of the
   * inspection.
   */
  static async find(
    inspection: JournalInspection,
    entity: EntityRef,
    point: HistoryPoint,
  ): Promise<IncarnationAt> {
    if (!(await inspection.hasEntity(entity)))
      throw new SvcError(
        'SVC_NOT_IN_JOURNAL',
        `The journal has no ${entityName(entity)}. svc journal DIR lists what it has.`,
      );
    let afterSeq = 0;
    let last: JournalRecord | undefined;
    let damaged: InspectedRecord | undefined;
    for await (const page of recordPages(inspection, entity, 0)) {
      const end = page.findIndex((record) => isPast(point, record));
      for (const record of end === -1 ? page : page.slice(0, end)) {
        if (record.kind === 'damaged') {
          damaged ??= record;
          continue;
        }
        if (last?.kind === 'deleted') afterSeq = last.seq;
        // Damage in an earlier incarnation does not affect this one.
        if (record.kind === 'deleted') damaged = undefined;
        last = record;
      }
      if (end !== -1) break;
    }
    if (damaged !== undefined) throw damage(entity, damaged);
    if (point.kind === 'seq' && (last?.seq ?? 0) < point.seq)
      throw new SvcError(
        'SVC_NOT_IN_JOURNAL',
        `The journal has no record ${point.seq} of ${entityName(entity)}: its last is ${last?.seq ?? 0}. ` +
          'svc journal DIR COMPONENT ID lists them.',
      );
    return new IncarnationAt(inspection, entity, afterSeq, last);
  }

  private constructor(
    inspection: JournalInspection,
    entity: EntityRef,
    afterSeq: number,
    last: JournalRecord | undefined,
  ) {
    this.#inspection = inspection;
    this.entity = entity;
    this.afterSeq = afterSeq;
    this.seq = last?.seq ?? 0;
    this.timeMs = last?.timeMs;
    this.isDeleted = last?.kind === 'deleted';
    this.lastSeq = this.isDeleted ? this.seq - 1 : this.seq;
  }

  /**
   * Yields the records of the incarnation up to the point, oldest first, including the deletion. Rejects with
   * SVC_JOURNAL_CORRUPT.
   */
  async *records(afterSeq = this.afterSeq): AsyncGenerator<JournalRecord> {
    for await (const record of recordsAfter(this.#inspection, this.entity, afterSeq)) {
      if (record.seq > this.seq) return;
      if (record.kind === 'damaged') throw damage(this.entity, record);
      yield record;
    }
  }

  async eventsAfter(seq: number): Promise<readonly StoredEvent[]> {
    const events: StoredEvent[] = [];
    if (seq >= this.lastSeq) return events;
    const { records } = await this.#inspection.records(this.entity, seq, PAGE_RECORDS);
    for (const record of records) {
      if (record.seq > this.lastSeq) break;
      if (record.kind === 'damaged') throw damage(this.entity, record);
      if (record.kind !== 'event') break;
      events.push(record.event);
    }
    return events;
  }
}

function isPast(point: HistoryPoint, record: InspectedRecord): boolean {
  if (point.kind === 'seq') return record.seq > point.seq;
  return point.kind === 'time' && record.kind !== 'damaged' && record.timeMs > point.timeMs;
}

/** Yields the records after `afterSeq`, across incarnations, and an entry for each record that is damaged. */
export async function* recordsAfter(
  inspection: JournalInspection,
  entity: EntityRef,
  afterSeq: number,
): AsyncGenerator<InspectedRecord> {
  for await (const page of recordPages(inspection, entity, afterSeq)) yield* page;
}

/** Yields what `recordsAfter` does, in pages: whoever reads many records waits once for each page. */
async function* recordPages(
  inspection: JournalInspection,
  entity: EntityRef,
  afterSeq: number,
): AsyncGenerator<readonly InspectedRecord[]> {
  for (let last = afterSeq; ;) {
    // oxlint-disable-next-line no-await-in-loop -- each page follows the one before
    const page = await inspection.records(entity, last, PAGE_RECORDS);
    yield page.records;
    if (page.storedCount < PAGE_RECORDS) return;
    last = page.lastSeq;
  }
}

function damage(entity: EntityRef, record: InspectedRecord): SvcError {
  const what = record.kind === 'damaged' ? record.problem : 'it is damaged';
  return new SvcError(
    'SVC_JOURNAL_CORRUPT',
    `Record ${record.seq} of ${entityName(entity)} is damaged: ${what}. What follows it cannot be ` +
      'folded; ask for a point before it, or restore the data folder from a backup.',
  );
}
