// JournalTimers are the timers of an opened journal, as a dispatcher in the same process reads them.
import type { ServiceClock } from '../engine/needs/clock.ts';
import { type OpenedTimers, openTimers } from '../storage/opened-timers.ts';
import type { Awaitable } from '@svc/model/call';
import type { MemoryJournal } from '../storage/memory/memory-journal.ts';
import type { OpenedJournal } from '../storage/opened-journal.ts';
import { TimerAlarm } from '../storage/timer-alarm.ts';

export interface JournalTimers {
  readonly alarm: TimerAlarm;
  /** Resolves once there may be timers. */
  readonly exist: Promise<void>;
  /** Opens the source of due timers. `onDamage` receives an error for each damaged timer that it reads. */
  open(onDamage: (error: unknown) => void): Awaitable<OpenedTimers>;
}

/** `clock`: the clock by which the dispatcher waits; absent: the machine's. */
export function storedTimers(
  journal: Pick<OpenedJournal, 'alarm' | 'followerConnection' | 'timersExist'>,
  clock?: ServiceClock,
): JournalTimers {
  return {
    alarm: new TimerAlarm(journal.alarm, clock),
    exist: journal.timersExist(),
    open: (onDamage) => openTimers(journal.followerConnection, onDamage),
  };
}

/** `clock`: as for `storedTimers`. */
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
