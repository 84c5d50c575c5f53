// What is asked of the index of the records by entity when a journal is opened for writing: that it has a place for
// each record. SQLite notices most damage of a page, and not one that leaves it well formed with fewer rows in it: an
// entity would then come back without its last records, and others would be stored in their stead.
import type { DatabaseSync } from 'node:sqlite';
import { LEVEL_TABLES } from './record-index.ts';
import { indexDamaged, isDamage } from './sqlite-failure.ts';

/**
 * Throws SVC_JOURNAL_CORRUPT, and errors of SQLite. It counts what is there, a million in some milliseconds. Damage
 * that SQLite names concerns the entities whose places lie there, and is told with their calls; but every entity's
 * records are looked for among the newest places, and every commit adds to them.
 */
export function checkIndexEntries(database: DatabaseSync, path: string): void {
  const lastPos = numberOf(database, 'SELECT coalesce(max(pos), 0) FROM journal');
  let entries = 0n;
  for (const table of LEVEL_TABLES)
    try {
      entries += numberOf(database, `SELECT count(*) FROM ${table}`);
    } catch (error) {
      if (!isDamage(error)) throw error;
      if (table === 'place_new')
        throw indexDamaged(path, 'its index of the newest records cannot be read', error);
      return;
    }
  if (entries >= lastPos) return;
  // Dear, and asked for only now: the number of a last record may be what is damaged.
  const records = numberOf(database, 'SELECT count(*) FROM journal NOT INDEXED');
  if (entries < records)
    throw indexDamaged(path, `it has ${records} records, and ${entries} of them in its index`);
}

function numberOf(database: DatabaseSync, sql: string): bigint {
  const statement = database.prepare(sql);
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  const [number] = statement.get() as unknown as readonly [bigint];
  return number;
}
