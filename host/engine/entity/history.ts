// History: what the journal must say of one entity. Its records stand in their order without a hole,
// and its present life begins after its last deletion; anything else is damage, and is never served.
import type { EntityRef, JournalRecord } from '../../model/entity.ts';
import { SvcError } from '@svc/kit/svc-error';
import { quoted } from '../quoted.ts';

/** An event, its place in the entity's history, and when it was recorded. */
export type RecordedEvent = JournalRecord & { readonly kind: 'event' };

/**
 * The records of a page that was read after `afterSeq`, all of them events. Throws
 * SVC_JOURNAL_CORRUPT when one is missing, or is a deletion.
 */
export function eventsInOrder(
  entity: EntityRef,
  page: readonly JournalRecord[],
  afterSeq: number,
): readonly RecordedEvent[] {
  return page.map((record, index) => {
    const seq = afterSeq + 1 + index;
    if (record.seq !== seq)
      throw corruptHistory(entity, `record ${record.seq} stands where record ${seq} belongs`);
    if (record.kind !== 'event') throw unknownDeletion(entity, seq);
    return record;
  });
}

export function unknownDeletion(entity: EntityRef, seq: number): SvcError {
  return corruptHistory(entity, `record ${seq} is a deletion that its index does not know`);
}

function corruptHistory(entity: EntityRef, what: string): SvcError {
  return new SvcError(
    'SVC_JOURNAL_CORRUPT',
    `The journal of ${entityName(entity)} is damaged: ${what}. ` +
      'Restore the data folder from a backup; the other entities are not affected.',
  );
}

/** For messages. */
export function entityName(entity: EntityRef): string {
  return `entity ${quoted(entity.id)} of component ${quoted(entity.component)}`;
}
