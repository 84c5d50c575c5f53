// ReadTimers gives the dispatcher the due timers of a journal in SQLite. Damaged timers are reported, and the others go on.
import type { TimerReader } from '../storage/sqlite/timer-reader.ts';
import type { DuePosition, PendingTimer, TimerSource } from '../timers/timer-source.ts';

/** `onDamage` receives an SvcError for each damaged timer, each time that it is read. */
export function readTimers(reader: TimerReader, onDamage: (error: unknown) => void): TimerSource {
  return {
    due(nowMs: number, limit: number, after: DuePosition | undefined): readonly PendingTimer[] {
      const found: PendingTimer[] = [];
      let from = after;
      // A page of damaged timers alone must not look like the end.
      for (;;) {
        const asked = limit - found.length;
        const { timers, damaged, last } = reader.due(nowMs, asked, from);
        for (const timer of timers)
          if (timer.nextMs !== undefined) found.push({ ...timer, nextMs: timer.nextMs });
        for (const error of damaged) onDamage(error);
        if (damaged.length === 0 || last === undefined || timers.length + damaged.length < asked)
          return found;
        from = last;
      }
    },
    earliestMs: (afterMs) => reader.earliestMs(Number.isFinite(afterMs) ? afterMs : undefined),
  };
}
