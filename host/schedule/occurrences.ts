// Occurrences computes the times at which the schedule of a timer is due. The next occurrence always follows from the
// schedule and the present one, never from the time at which a firing ran, so that a schedule does not drift.
import { TIME_MS_MAX } from '@svc/contract';
import type { Schedule } from '@svc/model/timer';
import { CronTimes, type CronSchedule, type Following } from './cron-times.ts';

/** Most cron expressions whose occurrences are remembered. */
const REMEMBERED_MAX = 100;

export class Occurrences {
  /** Indexed by zone and expression, in the order of their last use. */
  readonly #cronTimes = new Map<string, CronTimes>();

  /**
   * Returns the first occurrence after the time at which a schedule begins, both in milliseconds since
   * 1970-01-01T00:00:00Z; undefined if there is none before year 9999. Throws when a cron expression or its zone is
   * invalid.
   */
  first(schedule: Schedule, setMs: number): number | undefined {
    return schedule.kind === 'every'
      ? upToMax(setMs + schedule.everyMs)
      : this.#timesOf(schedule).next(setMs);
  }

  /**
   * Returns the first occurrence after both `nowMs` and the present occurrence, `dueMs`, and how many occurrences between
   * the two have passed; for a cron expression, at most 100 are counted. Throws when a cron expression or its zone is
   * invalid.
   */
  following(schedule: Schedule, dueMs: number, nowMs: number): Following {
    const passedMs = Math.max(dueMs, nowMs);
    if (schedule.kind === 'cron') return this.#timesOf(schedule).following(dueMs, passedMs);
    const missed = Math.floor((passedMs - dueMs) / schedule.everyMs);
    return { dueMs: upToMax(dueMs + (missed + 1) * schedule.everyMs), missed };
  }

  #timesOf(schedule: CronSchedule): CronTimes {
    const key = `${schedule.zone}\n${schedule.expression}`;
    const times = this.#cronTimes.get(key) ?? new CronTimes(schedule);
    this.#cronTimes.delete(key);
    this.#cronTimes.set(key, times);
    if (this.#cronTimes.size > REMEMBERED_MAX)
      this.#cronTimes.delete(this.#cronTimes.keys().next().value!);
    return times;
  }
}

function upToMax(timeMs: number): number | undefined {
  return timeMs <= TIME_MS_MAX ? timeMs : undefined;
}
