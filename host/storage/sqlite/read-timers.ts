// ReadTimers gives the dispatcher the due timers of a journal in SQLite. Damaged timers are reported, and the others go on.
import { SvcError } from '@svc/kit/svc-error';
import type { DueTimer } from '../../engine/needs/timers.ts';
import type { TimerReader } from './timer-reader.ts';
import type { TimerSource } from '../../engine/needs/timer-source.ts';

/** `onDamage` receives an SvcError for each damaged timer, each time that it is read. */
export function readTimers(reader: TimerReader, onDamage: (error: unknown) => void): TimerSource {
  return {
    due(nowMs, limit, after) {
      const found: DueTimer[] = [];
      let from = after;
      // A page of damaged timers alone must not look like the end.
      for (;;) {
        const asked = limit - found.length;
        const { timers, damaged, last } = reader.due(nowMs, asked, from);
        found.push(...timers);
        for (const error of damaged) onDamage(error);
        if (damaged.length === 0 || last === undefined || timers.length + damaged.length < asked)
          return found;
        from = last;
      }
    },
    input(number) {
      try {
        return reader.timer(number)?.input;
      } catch (error) {
        if (!(error instanceof SvcError) || error.code !== 'SVC_JOURNAL_CORRUPT') throw error;
        onDamage(error);
        return undefined;
      }
    },
    earliestMs: (afterMs) => reader.earliestMs(Number.isFinite(afterMs) ? afterMs : undefined),
  };
}
