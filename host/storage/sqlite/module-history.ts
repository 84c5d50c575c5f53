// ModuleHistory is the list of modules that have written the journal, each with the position of its first record. Tools
// read the list later; serving does not depend on it.
import type { DatabaseSync } from 'node:sqlite';
import { sqliteCode } from '@svc/kit/sqlite-code';
import type { WritingModule } from '../journal-contents.ts';

/** Adds the module that writes from now on to the list, unless it is the last one there. */
export function noteModule(
  database: DatabaseSync,
  { fingerprint, descriptor, timeMs }: WritingModule,
): void {
  try {
    database
      .prepare(
        `INSERT INTO module (fingerprint, from_pos, time_ms, descriptor)
         SELECT ?, (SELECT ifnull(max(pos), 0) + 1 FROM journal), ?, ?
         WHERE ? IS NOT (SELECT fingerprint FROM module ORDER BY mno DESC LIMIT 1)`,
      )
      .run(fingerprint, timeMs, descriptor, fingerprint);
  } catch (error) {
    // Errors of SQLite are ignored: a full disk refuses every command with its own error, and queries are answered.
    if (sqliteCode(error) === undefined) throw error;
  }
}
