// ConfirmedRecords reads the records of an entity for a consumer whose events of this entity wait in the journal.
//
// Invariant: a record that was read here is before each head that is read afterwards, so the next page of the feed is the one that has
// it, or an earlier one. Without that, a record whose commit the database shows before the writer has its answer would be handled
// here, and again when the feed comes to it.
import type { EntityRef, JournalRecord } from '@svc/model/entity';
import { sliceOf } from '@svc/model/slice';
import type { EntityReads } from '../entity-reads.ts';
import type { SliceHeads } from '../feed/slice-heads.ts';

export class ConfirmedRecords {
  readonly #reads: Pick<EntityReads, 'read'>;
  readonly #heads: SliceHeads;

  constructor(reads: Pick<EntityReads, 'read'>, heads: SliceHeads) {
    this.#reads = reads;
    this.#heads = heads;
  }

  /** Does what `Journal.read` does, up to the head of the slice of the entity. */
  read(entity: EntityRef, afterSeq: number, limit: number): Promise<readonly JournalRecord[]> {
    const head = this.#heads.offsets().offs[sliceOf(entity.component, entity.id)]!;
    return this.#reads.read(entity, afterSeq, limit, head);
  }
}
