// Replay: an entity as the journal tells it, a fresh guest entity with the events of its present
// life folded into it, a page at a time. It reads only what is on disk, so whoever asks for it has
// no append of that entity under way.
import type { EntityRef, JournalRecord, StoredEvent } from '../../model/entity.ts';
import { GuestFault } from '../../model/guest-fault.ts';
import { SvcError } from '../../model/svc-error.ts';
import type { GuestEntities, GuestEntity } from '../needs/guest.ts';
import type { Journal } from '../needs/journal.ts';
import { quoted } from '../quoted.ts';

/** Records read and folded at once. */
export const REPLAY_PAGE_RECORDS = 1_000;
/** How often an entity starts again because another one's fault took its instance away. */
const ATTEMPTS_MAX = 3;

export interface Replayed {
  readonly guest: GuestEntity;
  /** Of the entity's last record, 0 when it has none. */
  readonly seq: number;
}

/** Throws SvcError (SVC_EVENT_UNREADABLE, SVC_JOURNAL_…) or GuestFault. */
export async function replay(
  entities: GuestEntities,
  journal: Journal,
  entity: EntityRef,
): Promise<Replayed> {
  let singlyAfter = Infinity;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const folded = await fold(entities, journal, entity, singlyAfter);
    if (folded.kind === 'whole') return folded.replayed;
    // A page is folded in one call, which does not say where it stopped: one by one it does.
    if (folded.kind === 'unreadable page') singlyAfter = folded.afterSeq;
  }
  throw new GuestFault(
    'trap',
    `${entityName(entity)} lost its instance ${ATTEMPTS_MAX} times while its events were folded`,
  );
}

type Folded =
  | { readonly kind: 'whole'; readonly replayed: Replayed }
  | { readonly kind: 'unreadable page'; readonly afterSeq: number }
  | { readonly kind: 'lost' };

async function fold(
  entities: GuestEntities,
  journal: Journal,
  entity: EntityRef,
  singlyAfter: number,
): Promise<Folded> {
  let seq = await journal.lastDeletion(entity);
  let guest: GuestEntity | undefined;
  let folded: Folded | undefined;
  try {
    while (folded === undefined) {
      const page = await journal.read(entity, seq, REPLAY_PAGE_RECORDS);
      guest ??= await entities.open(entity, undefined);
      const events = eventsInOrder(entity, page, seq);
      const oneByOne = seq >= singlyAfter;
      const batches = oneByOne ? events.map((event) => [event]) : [events];
      for (const batch of batches) {
        if (guest.lost) return (folded = { kind: 'lost' });
        const problem = batch.length === 0 ? undefined : await guest.apply(batch);
        if (problem !== undefined) {
          if (oneByOne) throw unreadable(entity, seq + 1, problem);
          return (folded = { kind: 'unreadable page', afterSeq: seq });
        }
        seq += batch.length;
      }
      if (page.length < REPLAY_PAGE_RECORDS) folded = { kind: 'whole', replayed: { guest, seq } };
    }
    return folded;
  } finally {
    if (folded?.kind !== 'whole') guest?.close();
  }
}

/** The events of a page, each in its place. */
function eventsInOrder(
  entity: EntityRef,
  page: readonly JournalRecord[],
  afterSeq: number,
): readonly StoredEvent[] {
  return page.map((record, index) => {
    const seq = afterSeq + 1 + index;
    if (record.seq !== seq)
      throw corrupt(entity, `record ${record.seq} stands where record ${seq} belongs`);
    if (record.kind !== 'event')
      throw corrupt(entity, `record ${seq} is a deletion that its index does not know`);
    return record.event;
  });
}

function corrupt(entity: EntityRef, what: string): SvcError {
  return new SvcError(
    'SVC_JOURNAL_CORRUPT',
    `The journal of ${entityName(entity)} is damaged: ${what}. ` +
      'Restore the data folder from a backup; the other entities are not affected.',
  );
}

function unreadable(entity: EntityRef, seq: number, problem: string): SvcError {
  return new SvcError(
    'SVC_EVENT_UNREADABLE',
    `This module cannot read event ${seq} of ${entityName(entity)}: ${quoted(problem)}. ` +
      'Run a module whose event type still accepts what is stored.',
  );
}

/** For messages. */
export function entityName(entity: EntityRef): string {
  return `entity ${quoted(entity.id)} of component ${quoted(entity.component)}`;
}
