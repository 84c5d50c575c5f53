// ModuleHistory: which modules have written the journal, each from which place on. It is for those who look at
// the journal later, with another module in hand; nothing that is served hangs on it.
import type { DatabaseSync } from 'node:sqlite';
import { sqliteCode } from './sqlite-failure.ts';

export interface WritingModule {
  /** SHA-256 of its file, in hexadecimal digits. */
  readonly fingerprint: string;
  /** JSON text. */
  readonly descriptor: string;
  /** When it began, in milliseconds since 1970. */
  readonly timeMs: number;
}

/** Notes the module that writes from now on, unless it is the one that has written last. */
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
    // A full disk lets no command be stored either: those will say so, and queries are answered.
    if (sqliteCode(error) === undefined) throw error;
  }
}
