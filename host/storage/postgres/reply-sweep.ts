// ReplySweep removes the replies to idempotency keys whose retention is over, of the slices that one user of the journal
// writes and that the node owns. Their age is
// measured by the clock of the database: that of a node may be ahead.
//
// Invariant: the reply to a call of a consumer stays until the event is settled for which it was made, however old it is.
import type { MonotonicClock } from '../../engine/needs/clock.ts';
import { unsettledKeys } from './consumers/unsettled-events.ts';
import type { Parameter, Row } from './database-session.ts';
import type { FollowingSession } from './following-session.ts';

/** Replies of a page. */
const PAGE = 1_000;
/** The pause between two sweeps, in milliseconds. */
const PAUSE_MS = 10_000;

const EXPIRED = {
  name: 'expired-replies',
  text: `SELECT r.stored_ms, r.slice, r.component, r.id, r.key FROM svc.reply r
  WHERE r.stored_ms <= (extract(epoch FROM clock_timestamp()) * 1000)::int8 - $1
    AND (r.stored_ms, r.slice, r.component, r.id, r.key) > ($2, $3::int2, $4, $5, $6)
    AND r.slice = ANY($7::int2[])
  ORDER BY r.stored_ms, r.slice, r.component, r.id, r.key LIMIT ${PAGE}`,
};
const REMOVE = {
  name: 'remove-replies',
  text: `DELETE FROM svc.reply r
  USING unnest($1::int8[], $2::int2[], $3::text[], $4::text[], $5::text[])
    AS d(stored_ms, slice, component, id, key)
  WHERE r.slice = d.slice AND r.component = d.component AND r.id = d.id AND r.key = d.key
    AND r.stored_ms = d.stored_ms`,
};
const KEY = 4;
/** Before all replies. */
const START: Row = [-1, -1, '', '', ''];

export interface ReplySweepNeeds {
  readonly session: FollowingSession;
  /** Returns the slices. */
  readonly slices: () => readonly number[];
  readonly clock: MonotonicClock;
  /** How old replies may be, in milliseconds; absent: the first reply that is stored says so. */
  readonly retentionMs?: number | undefined;
}

export class ReplySweep {
  readonly #needs: ReplySweepNeeds;
  #retentionMs: number;
  #isRunning = false;
  #nextMs = -Infinity;

  constructor(needs: ReplySweepNeeds) {
    this.#needs = needs;
    this.#retentionMs = needs.retentionMs ?? Infinity;
  }

  /** Called after replies were stored. `retentionMs`: their retention. Begins a sweep as `begin` does. */
  stored(retentionMs: number): void {
    this.#retentionMs = retentionMs;
    this.begin();
  }

  /** Begins a sweep unless there was one a short time ago, or nobody has said how old replies may be. */
  begin(): void {
    if (this.#isRunning || this.#needs.clock.monotonicMs() < this.#nextMs) return;
    if (Number.isFinite(this.#retentionMs)) void this.#run(Math.ceil(this.#retentionMs));
  }

  async #run(retentionMs: number): Promise<void> {
    this.#isRunning = true;
    try {
      for (let last: Row | undefined = START; last !== undefined;)
        last = await this.#page(retentionMs, last);
    } catch {
      // The next sweep goes on.
    }
    this.#nextMs = this.#needs.clock.monotonicMs() + PAUSE_MS;
    this.#isRunning = false;
  }

  /** Removes the replies of a page. Returns the last one if more may follow. */
  async #page(retentionMs: number, after: Row): Promise<Row | undefined> {
    const { session, slices } = this.#needs;
    const values = [retentionMs, ...(after as readonly Parameter[]), slices()];
    const page = await session.query(EXPIRED, values);
    const keys = page.map((row) => row[KEY] as string);
    const needed = await unsettledKeys(session, keys);
    const removed = page.filter((row) => !needed.has(row[KEY] as string));
    if (removed.length > 0)
      await session.query(
        REMOVE,
        START.map((_, column) => removed.map((row) => row[column] as string | number)),
      );
    return page.length === PAGE ? page.at(-1) : undefined;
  }
}
