// JournalIncarnations iterates over the current incarnation of every entity in a journal; a deleted entity has none. An
// incarnation ends at the record that was the last one when the iteration reached the entity: records that a service
// appends later are left out. An incarnation that cannot be read is replaced by the reason.
import type { Incarnation } from '../engine/entity/incarnation.ts';
import type { EntityRef } from '@svc/model/entity';
import { SvcError } from '@svc/kit/svc-error';
import type { JournalInspection } from '../storage/journal-inspection.ts';
import { IncarnationAt } from './incarnation-at.ts';

const PAGE_ENTITIES = 500;

/**
 * Yields the incarnations of the entities of these components. Rejects with the errors of the inspection if the journal
 * cannot be read at all.
 */
export async function* journalIncarnations(
  inspection: JournalInspection,
  components: readonly string[],
): AsyncGenerator<Incarnation | { readonly entity: EntityRef; readonly failure: SvcError }> {
  for (const component of components)
    for await (const id of idsOf(inspection, component)) {
      const entity = { component, id };
      try {
        const incarnation = await IncarnationAt.find(inspection, entity, { kind: 'end' });
        if (!incarnation.isDeleted) yield incarnation;
      } catch (failure) {
        if (!(failure instanceof SvcError) || failure.code !== 'SVC_JOURNAL_CORRUPT') throw failure;
        yield { entity, failure };
      }
    }
}

async function* idsOf(inspection: JournalInspection, component: string): AsyncGenerator<string> {
  for (let last = ''; ;) {
    // oxlint-disable-next-line no-await-in-loop -- each page follows the one before
    const page = await inspection.entities(component, last, PAGE_ENTITIES);
    for (const { id, deleted } of page) {
      if (!deleted) yield id;
      last = id;
    }
    if (page.length < PAGE_ENTITIES) return;
  }
}
