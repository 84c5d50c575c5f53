// Due: when a timer is due, as a program says it. The engine checks the times and expressions when the timer is set.
import type { Due as TimerDue } from '@svc/model/timer';

/** When a timer is due: `Due.after(900_000)`. */
export class Due {
  readonly #due: TimerDue;

  private constructor(due: TimerDue) {
    this.#due = due;
  }

  /** Due once, at a date, or at a number of milliseconds since 1970. A time in the past is due immediately. */
  static at(time: Date | number): Due {
    return new Due({ kind: 'at', atMs: wholeMs(Number(time)) });
  }

  /** Due once, `ms` milliseconds after the time of the call that sets the timer; immediately if `ms` is negative. */
  static after(ms: number): Due {
    return new Due({ kind: 'after', afterMs: wholeMs(ms) });
  }

  /** Due every `ms` milliseconds, at least 1,000; for the first time `ms` milliseconds after the timer is set. */
  static every(ms: number): Due {
    return new Due({ kind: 'every', everyMs: wholeMs(ms) });
  }

  /**
   * Due at each time that a cron expression matches: five fields (minute, hour, day of month, month, day of week), or
   * a word such as `@daily`. `zone`: the IANA time zone of the expression, such as `Europe/Berlin`.
   */
  static cron(expression: string, zone = 'UTC'): Due {
    return new Due({ kind: 'cron', expression, zone });
  }

  get stored(): TimerDue {
    return this.#due;
  }
}

/** Rounds fractions up, so that a timer is never due early. */
function wholeMs(ms: number): number {
  return Math.max(0, Math.ceil(ms));
}
