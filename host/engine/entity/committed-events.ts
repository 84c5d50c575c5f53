// CommittedEvents reads the events of an entity's current incarnation from the journal, whether the entity is in memory or
// not.
//
// Invariant: the events are on disk and belong to one incarnation, also when the entity is deleted meanwhile.
import type { EntityRef } from '@svc/model/entity';
import type { Journal } from '../needs/journal.ts';
import { eventsInOrder, type RecordedEvent, unknownDeletion } from './history.ts';

/** Returns events with `seq > afterSeq`, oldest first, at most `limit`. Rejects as `Journal.read` does. */
export async function committedEvents(
  journal: Pick<Journal, 'read' | 'lastDeletion'>,
  entity: EntityRef,
  afterSeq: number,
  limit: number,
): Promise<readonly RecordedEvent[]> {
  let deletedSeq = await journal.lastDeletion(entity);
  for (;;) {
    const startSeq = Math.max(afterSeq, deletedSeq);
    const records = await journal.read(entity, startSeq, limit);
    const deletion = records.findLast((record) => record.kind === 'deleted');
    if (deletion === undefined) return eventsInOrder(entity, records, startSeq);
    // The entity was deleted between the two reads, and these events belong to the incarnation before.
    deletedSeq = await journal.lastDeletion(entity);
    if (deletedSeq < deletion.seq) throw unknownDeletion(entity, deletion.seq);
  }
}
