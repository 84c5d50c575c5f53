// JournalTimers are the timers of an opened journal, as a dispatcher in the same process reads them.
import type { ServiceClock } from '../engine/needs/clock.ts';
import type { MemoryJournal } from '../storage/memory/memory-journal.ts';
import { journalPath } from '../storage/sqlite/journal-file.ts';
import type { SqliteJournal } from '../storage/sqlite/sqlite-journal.ts';
import { openTimerReader } from '../storage/sqlite/timer-reader.ts';
import { TimerAlarm } from '../storage/timer-alarm.ts';
import type { TimerCounts } from '../storage/timer-series.ts';
import type { TimerSource } from '../timers/timer-source.ts';
import { readTimers } from './read-timers.ts';

export interface JournalTimers {
  readonly alarm: TimerAlarm;
  /** Resolves once there may be timers. */
  readonly exist: Promise<void>;
  /** Opens the source of due timers. `onDamage` receives an error for each damaged timer that it reads. */
  open(onDamage: (error: unknown) => void): OpenedTimers;
}

export interface OpenedTimers extends TimerSource {
  /** Counts the timers. */
  counts(): TimerCounts;
  close(): void;
}

/** `clock`: the clock by which the dispatcher waits; absent: the machine's. */
export function timersInFile(journal: SqliteJournal, clock?: ServiceClock): JournalTimers {
  return {
    alarm: new TimerAlarm(journal.alarm, clock),
    exist: journal.timersExist(),
    open(onDamage) {
      const reader = openTimerReader(journalPath(journal.dir));
      return {
        ...readTimers(reader, onDamage),
        counts: () => reader.counts(),
        close: () => reader.close(),
      };
    },
  };
}

/** `clock`: as for `timersInFile`. */
export function timersInMemory(journal: MemoryJournal, clock?: ServiceClock): JournalTimers {
  const alarm = new TimerAlarm(journal.alarm.shared, clock);
  return {
    alarm,
    exist: alarm.changed(0),
    open: () => ({
      due: (nowMs, limit, after) => journal.dueTimers(nowMs, limit, after),
      input: (number) => journal.timer(number)?.input,
      earliestMs: (afterMs) => journal.earliestTimerMs(afterMs),
      counts: () => journal.timerCounts(),
      close() {},
    }),
  };
}
