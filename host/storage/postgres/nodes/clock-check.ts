// ClockCheck compares the wall clock of this machine with that of the database. Commands of all nodes have their times by it, and timers are
// due by it: on a node whose clock is an hour ahead they would be set for an hour too late.
//
// Invariants
// - What the statement takes counts for neither clock: a slow database is no difference.
// - A clock that was set since it was compared counts as different until it is compared again.
import { SvcError } from '@svc/kit/svc-error';
import type { DatabaseSession, Statement } from '../database-session.ts';
import { type LeaseClocks, MACHINE_CLOCKS } from './node-lease.ts';

/** How much the clocks may differ, in milliseconds: after a failover it may be the clock of the database that is wrong, and all nodes would be refused. */
export const CLOCK_DIFFERENCE_MAX_MS = 30_000;

const NOW: Statement = { text: 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8' };

export class ClockCheck {
  readonly #shown: string;
  readonly #clocks: LeaseClocks;
  /** By how much the wall clock was before the one that is never set, when it was last compared. */
  #aheadMs: number;

  /** `shown`: name of the database in messages. */
  constructor(shown: string, clocks: LeaseClocks = MACHINE_CLOCKS) {
    this.#shown = shown;
    this.#clocks = clocks;
    this.#aheadMs = this.#nowAheadMs();
  }

  /** Whether the wall clock of this machine was set by more than the limit since it was last compared, or the machine was suspended for so long. */
  get wasSet(): boolean {
    return Math.abs(this.#nowAheadMs() - this.#aheadMs) > CLOCK_DIFFERENCE_MAX_MS;
  }

  /** Returns SVC_CLOCK_DIFFERS if the clocks differ by more than the limit. Rejects with DatabaseFailure. */
  async compare(session: DatabaseSession): Promise<SvcError | undefined> {
    const { nowMs } = this.#clocks;
    const beforeMs = nowMs();
    const databaseMs = (await session.query(NOW))[0]![0] as number;
    const afterMs = nowMs();
    this.#aheadMs = this.#nowAheadMs();
    const aheadMs = Math.max(beforeMs - databaseMs, 0) || Math.min(afterMs - databaseMs, 0);
    if (Math.abs(aheadMs) <= CLOCK_DIFFERENCE_MAX_MS) return undefined;
    const [own, other] = [new Date(afterMs), new Date(databaseMs)].map((date) =>
      date.toISOString(),
    );
    return new SvcError(
      'SVC_CLOCK_DIFFERS',
      `The clock of this machine shows ${own}, and that of ${this.#shown} ${other}: timers would be late or early by the difference. ` +
        `Synchronize both clocks (NTP). They may differ by ${CLOCK_DIFFERENCE_MAX_MS / 1_000} s.`,
    );
  }

  #nowAheadMs(): number {
    return this.#clocks.nowMs() - this.#clocks.machineMs();
  }
}
