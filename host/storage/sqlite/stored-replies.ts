// StoredReplies stores and removes the replies to idempotency keys, in the writer. A reply is stored in the transaction
// of its command's records. Expired replies are removed a few at a time, in later transactions.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { AppendedReply } from './journal-message.ts';
import { countIn } from './journal-schema.ts';
import { answerChecksum } from './record-checksum.ts';

/**
 * Maximum number of expired replies that are removed at once: more than one for each stored reply, so that none
 * pile up.
 */
const FORGOTTEN_AT_ONCE = 4;
/** Maximum number of expired replies that are removed at once when the journal is full. */
export const FORGOTTEN_WHEN_FULL = 256;

type AnswerTimes = Pick<AppendedReply, 'timeMs' | 'forgetBeforeMs'>;

export class StoredReplies {
  readonly #keep: StatementSync;
  readonly #oldest: StatementSync;
  readonly #forget: StatementSync;
  /** Replies up to this number are skipped: they have times of a clock that was far ahead, and are not expired yet. */
  #skippedReplyNo = 0n;
  /** Earliest time of the skipped replies, in milliseconds since 1970; from then on no reply is skipped. */
  #skippedMs = Infinity;
  /** Retention of the last stored reply in milliseconds; undefined: none was stored since the journal was opened. */
  #retentionMs: number | undefined = undefined;

  /** Throws errors of SQLite. */
  constructor(database: DatabaseSync) {
    this.#keep = database.prepare(
      'INSERT OR REPLACE INTO answer (eno, key, digest, time_ms, outcome, crc) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.#oldest = database.prepare(
      `SELECT ano, time_ms FROM answer WHERE ano > ? ORDER BY ano LIMIT ${countIn('?')}`,
    );
    this.#oldest.setReturnArrays(true);
    // A damaged row may have any number, and must not fail commands of other entities.
    this.#oldest.setReadBigInts(true);
    this.#forget = database.prepare('DELETE FROM answer WHERE ano = ?');
  }

  /** Stores a reply, replacing an older one of its key. Throws errors of SQLite. */
  keep(entityNo: number, component: string, id: string, answer: AppendedReply): void {
    const { key, digest, timeMs, outcome } = answer;
    const crc = answerChecksum(component, id, [key, digest, timeMs, outcome]);
    this.forget(answer, FORGOTTEN_AT_ONCE);
    this.#keep.run(entityNo, key, digest, timeMs, outcome, crc);
  }

  /**
   * Removes expired replies in a transaction whose last stored append has this time, in milliseconds since 1970, and no
   * reply. Does nothing before the first reply since the journal was opened. Throws errors of SQLite.
   */
  forgetMore(timeMs: number): void {
    if (this.#retentionMs === undefined) return;
    this.forget({ timeMs, forgetBeforeMs: timeMs - this.#retentionMs }, FORGOTTEN_AT_ONCE);
  }

  /**
   * Removes those of the oldest `atOnce` replies that have expired at the time of the given reply. Throws errors of
   * SQLite.
   */
  forget({ timeMs, forgetBeforeMs }: AnswerTimes, atOnce: number): void {
    this.#retentionMs = timeMs - forgetBeforeMs;
    if (timeMs >= this.#skippedMs) this.#skipNone();
    // A reply that is ahead by less delays the removal of the replies after it, for twice the retention at most.
    const farAheadMs = timeMs + this.#retentionMs;
    const oldest = this.#oldest.all(this.#skippedReplyNo, atOnce) as unknown as [bigint, bigint][];
    if (oldest.length === 0) this.#skipNone();
    let aheadCount = 0;
    for (const [replyNo, time] of oldest)
      if (time < forgetBeforeMs) this.#forget.run(replyNo);
      else if (time > farAheadMs) aheadCount++;
    if (aheadCount === atOnce)
      for (const [replyNo, time] of oldest) {
        this.#skippedReplyNo = replyNo;
        this.#skippedMs = Math.min(this.#skippedMs, Number(time));
      }
  }

  #skipNone(): void {
    this.#skippedReplyNo = 0n;
    this.#skippedMs = Infinity;
  }
}
