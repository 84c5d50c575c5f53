// History: the rules for the records of one entity in the journal. Their sequence numbers have no gap, and the current
// incarnation begins after the last deletion. Anything else is damage, and is never served.
import type { EntityRef, JournalRecord } from '@svc/model/entity';
import { SvcError } from '@svc/kit/svc-error';
import { quoted } from '../quoted.ts';

/** An event with its sequence number and the time at which it was recorded. */
export type RecordedEvent = JournalRecord & { readonly kind: 'event' };

/**
 * Returns the records of a page that was read after `afterSeq`, all of them events. Throws
 * SVC_JOURNAL_CORRUPT when a record is missing, or is a deletion.
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

/** Returns SVC_JOURNAL_CORRUPT for a deletion that the index of the journal does not contain. */
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

/** Returns the name of an entity in messages. */
export function entityName(entity: EntityRef): string {
  return `entity ${quoted(entity.id)} of component ${quoted(entity.component)}`;
}
