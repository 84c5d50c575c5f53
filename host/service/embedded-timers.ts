// EmbeddedTimers fires the due timers of an embedded service, in the thread of the program. Nothing runs before the first timer
// exists.
import type { Firing } from '../engine/firing.ts';
import type { ServiceClock } from '../engine/needs/clock.ts';
import type { TimerSettings } from '../engine/timer-settings.ts';
import { Occurrences } from '../schedule/occurrences.ts';
import { systemClock } from '../system.ts';
import { AlarmSleeper } from './alarm-sleeper.ts';
import { Dispatcher } from '../timers/dispatcher.ts';
import type { FiringAnswer } from '../timers/firing-answer.ts';
import { FailureReports } from './failure-reports.ts';
import type { TimerSeries } from '../storage/timer-series.ts';
import type { JournalTimers } from './journal-timers.ts';
import { TimerCounting } from './timer-counting.ts';

export interface EmbeddedTimersOptions {
  readonly timers: JournalTimers;
  readonly settings: TimerSettings;
  /** Absent: the machine's. The alarm of `timers` waits by the same clock. */
  readonly clock?: ServiceClock | undefined;
  /** Executes a firing. Never rejects. */
  readonly fire: (firing: Firing) => Promise<FiringAnswer>;
  /** Receives the counts of timers. */
  readonly series: TimerSeries;
  /** Receives why a timer could not be fired, each reason once a minute at most. */
  readonly report: (reason: string) => void;
}

export class EmbeddedTimers {
  readonly #options: EmbeddedTimersOptions;
  readonly #reports: FailureReports;
  #dispatcher: Dispatcher | undefined;
  #source: { close(): void } | undefined;
  #counting: TimerCounting | undefined;
  #isStopped = false;

  constructor(options: EmbeddedTimersOptions) {
    this.#options = options;
    this.#reports = new FailureReports(options.clock ?? systemClock, options.report);
  }

  begin(): void {
    void this.#options.timers.exist
      .then(() => this.#start())
      .catch((error: unknown) => this.#reports.add(error));
  }

  /** Starts no further firing, and waits for those in flight, at most `graceMs` milliseconds. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true;
    // Nobody waits for the first timer any more.
    this.#options.timers.alarm.wake();
    this.#counting?.stop();
    await this.#dispatcher?.stop(graceMs);
    this.#source?.close();
  }

  async #start(): Promise<void> {
    if (this.#isStopped) return;
    const { timers, settings, clock = systemClock, fire, series } = this.#options;
    const reports = this.#reports;
    const occurrences = new Occurrences();
    const opened = timers.open((error) => reports.add(error));
    const source = opened instanceof Promise ? await opened : opened;
    if (this.#isStopped) {
      source.close();
      return;
    }
    this.#source = source;
    this.#dispatcher = new Dispatcher({
      source,
      clock,
      sleeper: new AlarmSleeper(timers.alarm, () => clock.nowMs()),
      settings,
      fire,
      following: (schedule, dueMs, nowMs) => occurrences.following(schedule, dueMs, nowMs),
      onFailure: (error) => reports.add(error),
    });
    this.#dispatcher.start();
    this.#counting = new TimerCounting({
      counts: () => source.counts(),
      series,
      nowMs: () => clock.nowMs(),
      onFailure: (error) => reports.add(error),
    });
    this.#counting.start();
  }
}
