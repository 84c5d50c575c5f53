// Replay: an entity as the journal tells it, a fresh guest entity with the events of its present
// life folded into it, a page at a time. It reads only what is on disk, so whoever asks for it has
// no append of that entity under way. What could be folded one by one can be replayed: when a page is
// more than a guest can bear at once, its events are folded one by one.
import type { EntityRef, StoredEvent } from '../../model/entity.ts';
import { GuestFault } from '../../model/guest-fault.ts';
import { SvcError } from '../../model/svc-error.ts';
import type { GuestEntities, GuestEntity } from '../needs/guest.ts';
import type { Journal } from '../needs/journal.ts';
import { quoted } from '../quoted.ts';
import { entityName, eventsInOrder } from './history.ts';

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
    if (folded.kind === 'page failed') singlyAfter = folded.afterSeq;
  }
  throw new GuestFault(
    'trap',
    `${entityName(entity)} lost its instance ${ATTEMPTS_MAX} times while its events were folded`,
  );
}

type Folded =
  | { readonly kind: 'whole'; readonly replayed: Replayed }
  /** Folded in one call, which does not say where it stopped, and has the limits of one call. */
  | { readonly kind: 'page failed'; readonly afterSeq: number }
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
      const events = eventsInOrder(entity, page, seq).map((record) => record.event);
      const oneByOne = seq >= singlyAfter;
      const batches = oneByOne || events.length === 0 ? events.map((event) => [event]) : [events];
      for (const batch of batches) {
        if (guest.lost) return (folded = { kind: 'lost' });
        const problem = await applied(guest, batch);
        if (problem !== undefined) {
          if (batch.length > 1) return (folded = { kind: 'page failed', afterSeq: seq });
          throw problem instanceof GuestFault ? problem : unreadable(entity, seq + 1, problem);
        }
        seq += batch.length;
      }
      if (page.length === 0) folded = { kind: 'whole', replayed: { guest, seq } };
    }
    return folded;
  } finally {
    if (folded?.kind !== 'whole') guest?.close();
  }
}

/** What could not be decoded, or the fault. */
async function applied(
  guest: GuestEntity,
  events: readonly StoredEvent[],
): Promise<string | GuestFault | undefined> {
  try {
    return await guest.apply(events);
  } catch (fault) {
    if (fault instanceof GuestFault) return fault;
    throw fault;
  }
}

function unreadable(entity: EntityRef, seq: number, problem: string): SvcError {
  return new SvcError(
    'SVC_EVENT_UNREADABLE',
    `This module cannot read event ${seq} of ${entityName(entity)}: ${quoted(problem)}. ` +
      'Run a module whose event type still accepts what is stored.',
  );
}
