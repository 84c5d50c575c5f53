// IndexCheck makes sure, when a journal is opened for writing, that the index has at least as many entries as
// there are records. SQLite notices most damage of a page, but not damage that leaves the page well formed with fewer
// rows: an entity would then lose its last records, and new records would be stored under their numbers.
import type { DatabaseSync } from 'node:sqlite';
import { LEVEL_TABLES } from './record-index.ts';
import { indexDamaged, isDamage } from './sqlite-failure.ts';

/**
 * Counts the entries of the index, a million in some milliseconds. Damage that SQLite finds in level 1 or 2 concerns
 * the entities whose entries are there, and fails their calls only: it ends this check. Damage of level 0 is refused,
 * because every read and every commit uses it. Throws SVC_JOURNAL_CORRUPT, and errors of SQLite.
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
  // The exact count is slow. It is taken only now, because the position of the last record may be what is damaged.
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
