// StoredReplies: the writer's side of the answers to idempotency keys. They are stored in the transaction of what
// they answer, and forgotten a few at a time, in the transactions of later records and answers.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { AppendedReply } from './journal-message.ts';
import { countIn } from './journal-schema.ts';
import { answerChecksum } from './record-checksum.ts';

/** More than the one that is kept, so that what is past its time does not pile up. */
const FORGOTTEN_AT_ONCE = 4;
/** Where a journal is full: room is made sooner. */
export const FORGOTTEN_WHEN_FULL = 256;

type AnswerTimes = Pick<AppendedReply, 'timeMs' | 'forgetBeforeMs'>;

export class StoredReplies {
  readonly #keep: StatementSync;
  readonly #oldest: StatementSync;
  readonly #forget: StatementSync;
  /** Up to this one all are of a clock that was far ahead: they are left until the clock is there. */
  #passedReplyNo = 0n;
  /** The earliest of those. */
  #passedMs = Infinity;
  /** As the last answer had it; undefined: none was kept since the journal was opened. */
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
    // One that is damaged may have any number, and must not fail what has nothing to do with it.
    this.#oldest.setReadBigInts(true);
    this.#forget = database.prepare('DELETE FROM answer WHERE ano = ?');
  }

  /** Throws errors of SQLite. */
  keep(entityNo: number, component: string, id: string, answer: AppendedReply): void {
    const { key, digest, timeMs, outcome } = answer;
    const crc = answerChecksum(component, id, [key, digest, timeMs, outcome]);
    this.forget(answer, FORGOTTEN_AT_ONCE);
    this.#keep.run(entityNo, key, digest, timeMs, outcome, crc);
  }

  /** As answers do that are kept, for a transaction without any whose last record is of this time. Throws errors of SQLite. */
  forgetMore(timeMs: number): void {
    if (this.#retentionMs === undefined) return;
    this.forget({ timeMs, forgetBeforeMs: timeMs - this.#retentionMs }, FORGOTTEN_AT_ONCE);
  }

  /** Of the oldest `atOnce`, those that are past their time when this answer is to be kept. Throws errors of SQLite. */
  forget({ timeMs, forgetBeforeMs }: AnswerTimes, atOnce: number): void {
    this.#retentionMs = timeMs - forgetBeforeMs;
    if (timeMs >= this.#passedMs) this.#passNone();
    // One that is ahead by less keeps those behind it, for twice their time at most.
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
