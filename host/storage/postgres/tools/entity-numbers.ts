// EntityNumbers checks that the numbers of each entity's records have no holes, and counts the entities.
import type { EntityRef } from '@svc/model/entity';
import { type OrderReader, type SliceEnds } from './commit-order.ts';
import { slicesAtOnce } from './slice-ranges.ts';

/** Maximum number of holes that one statement reports. */
const HOLES_MAX = 1_000;
/** The last row counts the entities. */
const ENTITIES = {
  name: 'tool-entity-numbers',
  text: `WITH e AS MATERIALIZED (
    SELECT component, id, min(seq) AS first, max(seq) AS last, count(*) AS records FROM svc.journal
    WHERE slice >= $1::int2 AND slice < $2::int2 GROUP BY slice, component, id
  )
  (SELECT component, id, NULL::int8 FROM e WHERE first <> 1 OR last <> records LIMIT ${HOLES_MAX})
  UNION ALL SELECT NULL, NULL, count(*) FROM e`,
};

/** Contents of a part of the slices. */
export interface CheckedEntities {
  readonly count: number;
  /** Entities whose numbers have a hole. */
  readonly holes: readonly EntityRef[];
}

/** Yields what each part of the slices has. `ends`: roughly how many records each slice has. */
export async function* checkEntities(
  reader: OrderReader,
  ends: SliceEnds,
): AsyncGenerator<CheckedEntities, void> {
  for (const range of slicesAtOnce(ends)) {
    // oxlint-disable-next-line no-await-in-loop -- one part follows the other
    const rows = (await reader.query(ENTITIES, range)) as readonly (readonly [
      string,
      string,
      number | null,
    ])[];
    const holes = rows.filter(([, , count]) => count === null);
    yield {
      count: rows.find(([, , count]) => count !== null)?.[2] ?? 0,
      holes: holes.map(([component, id]) => ({ component, id })),
    };
  }
}
