// StoredReplies stores and removes the replies to idempotency keys, in the writer. A reply is stored in the transaction
// of its command's records. Expired replies are removed a few at a time, in later transactions.
//
// The time of the journal is that of its last append, in milliseconds since 1970: the clock of one machine gives the times of
// all appends.
//
// Invariant: the reply to a call of a consumer is not removed before the event is settled for which it was made, however old
// it is.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { AppendedReply } from './journal-message.ts';
import { countIn } from './journal-schema.ts';
import { answerChecksum } from './record-checksum.ts';
import { UnsettledEvents } from './unsettled-events.ts';

/**
 * Maximum number of expired replies that are removed at once: more than one for each stored reply, so that none
 * pile up.
 */
const FORGOTTEN_AT_ONCE = 4;
/** Maximum number of expired replies that are removed at once when the journal is full. */
export const FORGOTTEN_WHEN_FULL = 256;
/** Replies that are still needed are looked at again this long after all expired ones were, in milliseconds. */
const NEEDED_AGAIN_MS = 3_600_000;

/** A damaged row may have any key. */
type OldReply = readonly [replyNo: bigint, timeMs: bigint, key: unknown];
type ReplyTimes = Pick<AppendedReply, 'timeMs' | 'retentionMs'>;

export class StoredReplies {
  readonly #keep: StatementSync;
  readonly #oldest: StatementSync;
  readonly #forget: StatementSync;
  readonly #unsettled: UnsettledEvents;
  /**
   * Replies up to this number are skipped: they have times of a clock that was far ahead, and are not expired yet, or they
   * are expired and still needed.
   */
  #skippedReplyNo = 0n;
  /**
   * When the first of the skipped replies of a clock that was ahead may be removed, in milliseconds since 1970; from then on no
   * reply is skipped.
   */
  #aheadMs = Infinity;
  /** Whether replies are skipped that are still needed. */
  #skipsNeeded = false;
  /**
   * When these are looked at again, in milliseconds since 1970; from then on no reply is skipped. Infinity until all expired
   * replies were looked at: however many are needed, those behind them are removed.
   */
  #neededMs = Infinity;
  /** Retention of the last stored reply in milliseconds; undefined: none was stored since the journal was opened. */
  #retentionMs: number | undefined = undefined;

  /** Throws errors of SQLite. */
  constructor(database: DatabaseSync) {
    this.#keep = database.prepare(
      'INSERT OR REPLACE INTO answer (eno, key, digest, time_ms, outcome, crc) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.#oldest = database.prepare(
      `SELECT ano, time_ms, key FROM answer WHERE ano > ? ORDER BY ano LIMIT ${countIn('?')}`,
    );
    this.#oldest.setReturnArrays(true);
    // A damaged row may have any number, and must not fail commands of other entities.
    this.#oldest.setReadBigInts(true);
    this.#forget = database.prepare('DELETE FROM answer WHERE ano = ?');
    this.#unsettled = new UnsettledEvents(database);
  }

  /** Stores a reply, replacing an older one of its key. Throws errors of SQLite. */
  keep(entityNo: number, component: string, id: string, answer: AppendedReply): void {
    const { key, digest, timeMs, outcome } = answer;
    const crc = answerChecksum(component, id, [key, digest, timeMs, outcome]);
    this.forget(answer, FORGOTTEN_AT_ONCE);
    this.#keep.run(entityNo, key, digest, timeMs, outcome, crc);
  }

  /**
   * Removes expired replies in a transaction whose last stored append has this time, and no reply. Does nothing before the first
   * reply since the journal was opened. Throws errors of SQLite.
   */
  forgetMore(timeMs: number): void {
    if (this.#retentionMs === undefined) return;
    this.forget({ timeMs, retentionMs: this.#retentionMs }, FORGOTTEN_AT_ONCE);
  }

  /**
   * Removes those of the oldest `atOnce` replies that have expired at the time of the given reply, and are not needed any
   * more. Throws errors of SQLite.
   */
  forget({ timeMs, retentionMs }: ReplyTimes, atOnce: number): void {
    this.#retentionMs = retentionMs;
    if (timeMs >= Math.min(this.#aheadMs, this.#neededMs)) this.#skipNone();
    const oldest = this.#oldest.all(this.#skippedReplyNo, atOnce) as unknown as OldReply[];
    // Numbers are given again once the last replies are gone. Replies that are needed are looked at again soon enough.
    if (oldest.length === 0 && !this.#skipsNeeded) this.#skipNone();
    if (oldest.length === 0) this.#lookedAtAll(timeMs);
    let isFirst = true;
    for (const reply of oldest) {
      const state = this.#stateOf(reply, timeMs, retentionMs);
      if (state === 'expired') this.#forget.run(reply[0]);
      else if (state === 'kept') {
        isFirst = false;
        this.#lookedAtAll(timeMs);
      } else if (isFirst) this.#skip(reply, state);
    }
  }

  #stateOf(
    [, time, key]: OldReply,
    timeMs: number,
    retentionMs: number,
  ): 'expired' | 'kept' | 'ahead' | 'needed' {
    if (time > timeMs - retentionMs)
      // A reply that is ahead by less delays the removal of the replies after it, for twice the retention at most.
      return time > timeMs + retentionMs ? 'ahead' : 'kept';
    return this.#unsettled.has(String(key)) ? 'needed' : 'expired';
  }

  #skip([replyNo, time]: OldReply, state: 'ahead' | 'needed'): void {
    this.#skippedReplyNo = replyNo;
    if (state === 'needed') this.#skipsNeeded = true;
    else this.#aheadMs = Math.min(this.#aheadMs, Number(time));
  }

  /** Notes that no expired reply is left that was not looked at. */
  #lookedAtAll(timeMs: number): void {
    if (this.#skipsNeeded && this.#neededMs === Infinity) this.#neededMs = timeMs + NEEDED_AGAIN_MS;
  }

  #skipNone(): void {
    this.#skippedReplyNo = 0n;
    this.#aheadMs = Infinity;
    this.#skipsNeeded = false;
    this.#neededMs = Infinity;
  }
}
