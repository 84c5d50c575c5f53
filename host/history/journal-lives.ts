// JournalLives: the present life of every entity of a journal, one after the other, for who folds them all.
// What a service appends meanwhile is left out; a life that cannot be read is named in its place.
import type { EntityRef } from '../model/entity.ts';
import { SvcError } from '@svc/kit/svc-error';
import type { JournalInspection } from '../storage/sqlite/tools/journal-inspection.ts';
import type { FoldedLife } from './folded-life.ts';
import { PastLife } from './past-life.ts';

const PAGE_ENTITIES = 500;

/** Those of some components. Throws as the inspection does when the whole journal cannot be read. */
export function* journalLives(
  inspection: JournalInspection,
  components: readonly string[],
): Generator<FoldedLife | { readonly entity: EntityRef; readonly failure: SvcError }> {
  for (const component of components)
    for (const id of idsOf(inspection, component)) {
      const entity = { component, id };
      try {
        const life = new PastLife(inspection, entity, { kind: 'end' });
        if (!life.isDeleted) yield foldedLife(life);
      } catch (failure) {
        if (!(failure instanceof SvcError) || failure.code !== 'SVC_JOURNAL_CORRUPT') throw failure;
        yield { entity, failure };
      }
    }
}

function* idsOf(inspection: JournalInspection, component: string): Generator<string> {
  for (let last = ''; ;) {
    const page = inspection.entities(component, last, PAGE_ENTITIES);
    for (const { id, deleted } of page) {
      if (!deleted) yield id;
      last = id;
    }
    if (page.length < PAGE_ENTITIES) return;
  }
}

function foldedLife(life: PastLife): FoldedLife {
  return {
    entity: life.entity,
    firstSeq: life.beganAfter + 1,
    count: life.seq - life.beganAfter,
    *events(from, to) {
      let left = to - from;
      if (left <= 0) return;
      for (const record of life.records(life.beganAfter + from)) {
        if (record.kind === 'event') yield record.event;
        if (--left === 0) return;
      }
    },
  };
}
