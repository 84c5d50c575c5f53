// EntityIds finds the entities of a component in the order of their ids. Each slice has its entities in this order; the ids of all
// slices are merged, of which each is asked for few ids at a time.
//
// An entity that has only refused commands with idempotency keys has no record, and is found by its stored replies.
import { SLICE_COUNT } from '@svc/model/slice';
import type { DatabaseReader } from './database-reader.ts';

/** Ids that each slice is asked for at first; twice as many each time after that. */
const IDS_AT_FIRST = 2;
const IDS_MAX = 512;

/** The first id after another one, in SQL. */
const nextAfter = (after: string) => `least((
    SELECT j.id FROM svc.journal j WHERE j.slice = c.slice AND j.component = $3 AND j.id > ${after} AND j.id >= $4
    ORDER BY j.id LIMIT 1
  ), (
    SELECT r.id FROM svc.reply r WHERE r.slice = c.slice AND r.component = $3 AND r.id > ${after} AND r.id >= $4
    ORDER BY r.id LIMIT 1
  ))`;
/** Reads one entry of the index for each id, however many records an entity has. */
const IDS = {
  name: 'tool-entity-ids',
  text: `SELECT c.slice, n.id FROM unnest($1::int2[], $2::text[]) AS c(slice, after)
  CROSS JOIN LATERAL (
    WITH RECURSIVE ids(id, count) AS (
      SELECT ${nextAfter('c.after')}, 1
      UNION ALL
      SELECT ${nextAfter('ids.id')}, ids.count + 1 FROM ids WHERE starts_with(ids.id, $4) AND ids.count < $5
    )
    SELECT ids.id, ids.count FROM ids WHERE starts_with(ids.id, $4)
  ) n ORDER BY c.slice, n.count`,
};

export interface FoundId {
  readonly slice: number;
  readonly id: string;
}

export interface IdQuestion {
  readonly component: string;
  readonly prefix: string;
  readonly afterId: string;
  readonly limit: number;
}

/** Returns the first entities of a component after an id, at most `limit`. Rejects as DatabaseReader does. */
export async function findIds(
  reader: DatabaseReader,
  { component, prefix, afterId, limit }: IdQuestion,
): Promise<readonly FoundId[]> {
  const found: FoundId[] = [];
  let asked = Array.from({ length: SLICE_COUNT }, (_, slice): FoundId => ({ slice, id: afterId }));
  // Slices that may have more ids, each with the last one that was read.
  const open = new Map<number, FoundId>();
  for (let count = IDS_AT_FIRST; asked.length > 0; count = Math.min(2 * count, IDS_MAX)) {
    const rows = await reader.query(IDS, [
      asked.map(({ slice }) => slice),
      asked.map(({ id }) => id),
      component,
      prefix,
      count,
    ]);
    const read = Map.groupBy(
      rows.map(([slice, id]) => ({ slice, id }) as FoundId),
      ({ slice }) => slice,
    );
    for (const { slice } of asked) {
      const ids = read.get(slice) ?? [];
      found.push(...ids);
      const last = ids[count - 1];
      if (last === undefined) open.delete(slice);
      else open.set(slice, last);
    }
    found.sort(byId);
    found.length = Math.min(found.length, limit);
    const last = found.length < limit ? undefined : found[limit - 1];
    asked = [...open.values()].filter((id) => last === undefined || byId(id, last) < 0);
  }
  return found;
}

/** Compares ids as the database does: byte by byte. */
function byId(a: FoundId, b: FoundId): number {
  return Buffer.compare(Buffer.from(a.id), Buffer.from(b.id));
}
