// StoredReplies stores and removes the replies to idempotency keys, in the writer. A reply is stored in the transaction of
// its command's records. Expired replies are removed a few at a time, in the transactions of later records and replies.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { AppendedReply } from './journal-message.ts';
import { countIn } from './journal-schema.ts';
import { answerChecksum } from './record-checksum.ts';

/** Expired replies removed at once. More than the one that is stored, so that expired ones do not pile up. */
const FORGOTTEN_AT_ONCE = 4;
/** Expired replies removed at once when the journal is full. */
export const FORGOTTEN_WHEN_FULL = 256;

type AnswerTimes = Pick<AppendedReply, 'timeMs' | 'forgetBeforeMs'>;

export class StoredReplies {
  readonly #keep: StatementSync;
  readonly #oldest: StatementSync;
  readonly #forget: StatementSync;
  /** Replies up to this number have the time of a clock that was far ahead: they stay until the clock reaches it. */
  #passedReplyNo = 0n;
  /** The earliest time of those replies, in milliseconds since 1970. */
  #passedMs = Infinity;
  /** Retention of the last stored reply; undefined: none was stored since the journal was opened. */
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
   * Removes expired replies in a transaction that stores no reply, and whose last record has this time, in milliseconds
   * since 1970. Throws errors of SQLite.
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
    if (timeMs >= this.#passedMs) this.#passNone();
    // A reply that is ahead by less delays the removal of those behind it, for twice the retention at most.
    const farAheadMs = timeMs + this.#retentionMs;
    const oldest = this.#oldest.all(this.#passedReplyNo, atOnce) as unknown as [bigint, bigint][];
    if (oldest.length === 0) this.#passNone();
    let aheadCount = 0;
    for (const [replyNo, time] of oldest)
      if (time < forgetBeforeMs) this.#forget.run(replyNo);
      else if (time > farAheadMs) aheadCount++;
    if (aheadCount === atOnce)
      for (const [replyNo, time] of oldest) {
        this.#passedReplyNo = replyNo;
        this.#passedMs = Math.min(this.#passedMs, Number(time));
      }
  }

  #passNone(): void {
    this.#passedReplyNo = 0n;
    this.#passedMs = Infinity;
  }
}
