// KeptAnswers: the writer's side of the answers to idempotency keys. They are stored in the transaction of what
// they answer, and forgotten a few at a time, in the transactions of later ones.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { AppendedAnswer } from './journal-message.ts';
import { answerChecksum } from './record-checksum.ts';

/** More than one is kept with each, so that what is past its time does not pile up. */
const FORGOTTEN_AT_ONCE = 4;

export class KeptAnswers {
  readonly #keep: StatementSync;
  readonly #forget: StatementSync;

  /** Throws errors of SQLite. */
  constructor(database: DatabaseSync) {
    this.#keep = database.prepare(
      'INSERT OR REPLACE INTO answer (eno, key, digest, time_ms, outcome, crc) VALUES (?, ?, ?, ?, ?, ?)',
    );
    // The oldest first; those whose clock was ahead keep the ones behind them for a while.
    this.#forget = database.prepare(
      'DELETE FROM answer WHERE time_ms < ? AND ano IN (SELECT ano FROM answer ORDER BY ano LIMIT ?)',
    );
  }

  /** Throws errors of SQLite. */
  keep(eno: number, component: string, id: string, answer: AppendedAnswer): void {
    const { key, digest, timeMs, outcome, forgetBeforeMs } = answer;
    const crc = answerChecksum(component, id, [key, digest, timeMs, outcome]);
    this.#forget.run(forgetBeforeMs, FORGOTTEN_AT_ONCE);
    this.#keep.run(eno, key, digest, timeMs, outcome, crc);
  }
}
