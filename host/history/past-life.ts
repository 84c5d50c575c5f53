// PastLife: the records of an entity up to a point of its history, read from a journal that is only looked at.
// A life begins with the first record or after a deletion, and ends with the next deletion.
//
// Times are those of the commands' clock, which may jump: they need not grow with the number. The point at a
// time lies behind the last record, in the order of their numbers, before the first one that is later.
import { entityName } from '../engine/entity/history.ts';
import type { Journal } from '../engine/needs/journal.ts';
import type { EntityRef, JournalRecord } from '../model/entity.ts';
import { SvcError } from '@svc/kit/svc-error';
import type {
  InspectedRecord,
  JournalInspection,
} from '../storage/sqlite/tools/journal-inspection.ts';

/** A point of an entity's history. `seq` 0: before its first record. */
export type HistoryPoint =
  | { readonly kind: 'end' }
  | { readonly kind: 'seq'; readonly seq: number }
  | { readonly kind: 'time'; readonly timeMs: number };

/** Few, since each event may have a megabyte. */
const PAGE_RECORDS = 64;

export class PastLife {
  readonly #inspection: JournalInspection;
  readonly entity: EntityRef;
  /** Of the record before the first one of the life: of a deletion, or 0. */
  readonly beganAfter: number;
  /** Of the last record at the point; `beganAfter` when the life has none yet. */
  readonly seq: number;
  /** Of that record; undefined when the entity has none yet. */
  readonly timeMs: number | undefined;
  /** That record is the deletion which ends the life: the state is then the empty one. */
  readonly isDeleted: boolean;

  /**
   * The life in which the point lies. Throws SVC_NOT_IN_JOURNAL when the entity or the record does not exist,
   * SVC_JOURNAL_CORRUPT when a record of the life is damaged, and as the inspection does.
   */
  constructor(inspection: JournalInspection, entity: EntityRef, point: HistoryPoint) {
    this.#inspection = inspection;
    this.entity = entity;
    if (!inspection.hasEntity(entity))
      throw new SvcError(
        'SVC_NOT_IN_JOURNAL',
        `The journal has no ${entityName(entity)}. svc journal DIR lists what it has.`,
      );
    let beganAfter = 0;
    let last: JournalRecord | undefined;
    let damaged: InspectedRecord | undefined;
    for (const record of recordsAfter(inspection, entity, 0)) {
      if (point.kind === 'seq' && record.seq > point.seq) break;
      if (record.kind === 'damaged') {
        damaged ??= record;
        continue;
      }
      if (point.kind === 'time' && record.timeMs > point.timeMs) break;
      if (last?.kind === 'deleted') beganAfter = last.seq;
      // What is damaged in a life that has ended is of no matter for the next.
      if (record.kind === 'deleted') damaged = undefined;
      last = record;
    }
    if (damaged !== undefined) throw damage(entity, damaged);
    if (point.kind === 'seq' && (last?.seq ?? 0) < point.seq)
      throw new SvcError(
        'SVC_NOT_IN_JOURNAL',
        `The journal has no record ${point.seq} of ${entityName(entity)}: its last is ${last?.seq ?? 0}. ` +
          'svc journal DIR COMPONENT ID lists them.',
      );
    this.beganAfter = beganAfter;
    this.seq = last?.seq ?? 0;
    this.timeMs = last?.timeMs;
    this.isDeleted = last?.kind === 'deleted';
  }

  /** Those of the life up to the point, oldest first. Throws SVC_JOURNAL_CORRUPT. */
  *records(afterSeq = this.beganAfter): Generator<JournalRecord> {
    for (const record of recordsAfter(this.#inspection, this.entity, afterSeq)) {
      if (record.seq > this.seq) return;
      if (record.kind === 'damaged') throw damage(this.entity, record);
      yield record;
    }
  }

  /** The life as a journal that ends at the point, for who folds it. */
  get journal(): Pick<Journal, 'read' | 'lastDeletion'> {
    return new PastJournal(this);
  }
}

class PastJournal implements Pick<Journal, 'read' | 'lastDeletion'> {
  readonly #life: PastLife;

  constructor(life: PastLife) {
    this.#life = life;
  }

  lastDeletion(): Promise<number> {
    const { isDeleted, seq, beganAfter } = this.#life;
    return Promise.resolve(isDeleted ? seq : beganAfter);
  }

  read(_entity: EntityRef, afterSeq: number, limit: number): Promise<readonly JournalRecord[]> {
    const records: JournalRecord[] = [];
    if (afterSeq < this.#life.seq)
      for (const record of this.#life.records(afterSeq))
        if (records.push(record) === Math.min(limit, PAGE_RECORDS)) break;
    return Promise.resolve(records);
  }
}

/** Also those that are damaged. */
export function* recordsAfter(
  inspection: JournalInspection,
  entity: EntityRef,
  afterSeq: number,
): Generator<InspectedRecord> {
  for (let last = afterSeq; ;) {
    const page = inspection.records(entity, last, PAGE_RECORDS);
    yield* page.records;
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
