// CronTimes are the occurrences of one cron expression in one time zone, computed by the package croner. The package is
// loaded when the first expression is evaluated, and only this folder imports it: no thread that runs a module does.
//
// An expression whose minute and hour are values, lists or ranges names local times of a day: one that the day skips for
// daylight saving time occurs when the skipped hour has passed, and one that the day has twice occurs once, the first
// time. An expression with `*` or a step in its minute or hour recurs through the day: times that the day skips do not
// occur, and times that it has twice occur twice. With both a day of month and a day of week, either is enough:
// `0 0 29 2 1` is 29 February and every Monday in February.
import assert from 'node:assert';
import { createRequire } from 'node:module';
import { TIME_MS_MAX } from '@svc/contract';
import type { Cron } from 'croner';
import type { Schedule } from '@svc/model/timer';

export type CronSchedule = Extract<Schedule, { readonly kind: 'cron' }>;

/** The occurrence of a schedule that follows the present one, as seen when the present one is fired. */
export interface Following {
  /** Milliseconds since 1970-01-01T00:00:00Z; undefined if there is none before year 9999. */
  readonly dueMs: number | undefined;
  /** The number of occurrences in between that have passed. They are not fired. */
  readonly missed: number;
}

/** Most occurrences of a cron expression that are counted as missed. */
export const CRON_MISSED_MAX = 100;

export class CronTimes {
  readonly #cron: Cron;
  /**
   * An occurrence and those that follow it, without a gap; Infinity after the last one. All timers of an expression ask
   * about the same occurrences, also when a stop made them overdue, so that each is computed once.
   */
  #walked: number[] = [];

  /** Throws when the expression or the zone is invalid. */
  constructor({ expression, zone }: CronSchedule) {
    const croner = createRequire(import.meta.url)('croner') as typeof import('croner');
    this.#cron = new croner.Cron(expression, {
      mode: '5-part',
      timezone: zone === '' ? 'UTC' : zone,
      fixedTimeRule: 'no-wildcard',
    });
  }

  /**
   * Returns the first occurrence after a time, both in milliseconds since 1970-01-01T00:00:00Z; undefined if there is
   * none before year 9999. Throws when the zone is unknown.
   */
  next(afterMs: number): number | undefined {
    if (afterMs > TIME_MS_MAX) return undefined;
    const nextMs = this.#cron.nextRun(new Date(afterMs))?.getTime();
    assert(nextMs === undefined || nextMs > afterMs, 'an occurrence is after the time asked about');
    return nextMs;
  }

  /**
   * Returns the first occurrence after `nowMs`, and the number of those after `dueMs` up to `nowMs`, at most 100.
   * `dueMs` is at most `nowMs`. Throws as `next` does.
   */
  following(dueMs: number, nowMs: number): Following {
    let present = this.#walked.indexOf(dueMs);
    if (present === -1 || (!this.#walkPast(nowMs) && present > 0)) {
      present = 0;
      this.#walked = [dueMs];
      this.#walkPast(nowMs);
    }
    const next = this.#walked.findIndex((timeMs) => timeMs > nowMs);
    if (next === -1) return { dueMs: this.next(nowMs), missed: CRON_MISSED_MAX };
    const nextMs = this.#walked[next]!;
    return { dueMs: nextMs === Infinity ? undefined : nextMs, missed: next - present - 1 };
  }

  /** Returns whether an occurrence after the time is remembered, or that there is none; false: there are too many before. */
  #walkPast(nowMs: number): boolean {
    for (let lastMs = this.#walked.at(-1); lastMs <= nowMs; lastMs = this.#walked.at(-1)!) {
      if (this.#walked.length > CRON_MISSED_MAX) return false;
      this.#walked.push(this.next(lastMs) ?? Infinity);
    }
    return true;
  }
}
