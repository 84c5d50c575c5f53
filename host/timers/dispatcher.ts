// Dispatcher starts the firings of due timers. It keeps nothing in memory for a timer besides those in flight and a
// bounded part of those that are due.
//
// Invariants
// F1  No firing starts while the wall clock is before the timer's `nextMs`.
// F2  At most `inFlight` firings are under way, at most one for each target, and they start at the rate of
//     `firesPerSecond`.
// F3  Of the due timers that it holds and whose targets are free, the first in the order of due timers starts first.
// F4  It sleeps for at most a second, so that it notices a clock that was set.
//
// A target with a backlog does not stop others: the sweep passes over 256 of its timers each time that the event loop
// is free. So a timer behind a backlog starts after two sweeps over it at most, and a second.
import type { Firing } from '../engine/firing.ts';
import type { Clock } from '../engine/needs/clock.ts';
import type { DueTimer } from '../engine/needs/timers.ts';
import type { TimerSettings } from '../engine/timer-settings.ts';
import type { Schedule } from '@svc/model/timer';
import { DueTimers, type HeldTimer } from './due-timers.ts';
import type { FiringAnswer } from './firing-answer.ts';
import { TargetPauses } from './target-pauses.ts';
import type { TimerSource } from '../engine/needs/timer-source.ts';
import { TokenBucket } from './token-bucket.ts';

/** Longest sleep, and longest time between two looks at what is due, in milliseconds. */
const LOOK_MS = 1000;

export interface Sleeper {
  /**
   * Resolves after the time or at a signal, and says whether the journal has signalled that a timer was set. A signal
   * since the last sleep ends this one at once. `ms`: 0 to 1,000; 0 lets the event loop go on.
   */
  sleep(ms: number): Promise<boolean>;
  /** Ends the present sleep, or the next one, without a signal of the journal. */
  interrupt(): void;
}

export interface DispatcherDependencies {
  readonly source: TimerSource;
  /** The wall clock decides what is due; the monotonic one measures rates and pauses. */
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly settings: TimerSettings;
  /** Executes a firing. A rejection counts as `unavailable`. */
  readonly fire: (firing: Firing) => Promise<FiringAnswer>;
  /**
   * Computes the occurrence after `nowMs`, and the number of those between it and `dueMs`. Throws if the schedule cannot be
   * evaluated.
   */
  readonly following: (
    schedule: Schedule,
    dueMs: number,
    nowMs: number,
  ) => { readonly dueMs: number | undefined; readonly missed: number };
  /** Receives failures to read the journal, why a firing was unavailable, and rejections of `fire`. The dispatcher goes on. */
  readonly onFailure: (error: unknown) => void;
}

export class Dispatcher {
  readonly #needs: DispatcherDependencies;
  readonly #due: DueTimers;
  readonly #bucket: TokenBucket;
  readonly #pauses: TargetPauses;
  /** Target → number of the timer in flight. */
  readonly #inFlight = new Map<string, number>();
  /** All that was due at this time has been read, by the wall clock. */
  #readMs = -Infinity;
  /** When the next timer is due, by the wall clock; undefined: the journal has not been asked since the last look. */
  #nextDueMs: number | undefined;
  /** When to look at what is due in any case, by the monotonic clock. */
  #lookAtMs = -Infinity;
  #isStopping = false;
  /** Whether a round has begun that has not ended. Its page may be read for long. */
  #isInRound = false;
  #run: Promise<void> | undefined;

  constructor(needs: DispatcherDependencies) {
    this.#needs = needs;
    this.#due = new DueTimers(needs.source);
    this.#bucket = new TokenBucket(needs.settings.firesPerSecond, needs.clock.monotonicMs());
    this.#pauses = new TargetPauses(needs.settings);
  }

  /** The number of firings under way. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  start(): void {
    this.#run ??= this.#rounds();
  }

  /**
   * Starts no further firing, and waits for a page that is being read, and for the firings in flight, at most `graceMs`. Returns
   * the number of firings that have not ended by then; their timers stay as they are in the journal.
   */
  async stop(graceMs: number): Promise<number> {
    const { clock, sleeper } = this.#needs;
    // The present sleep may end late: while the event loop is blocked, its interruption waits too.
    const endMs = clock.monotonicMs() + graceMs;
    this.#isStopping = true;
    sleeper.interrupt();
    if (!this.#isInRound) await this.#run;
    while (this.#isInRound || this.#inFlight.size > 0) {
      const leftMs = endMs - clock.monotonicMs();
      if (leftMs <= 0) break;
      // oxlint-disable-next-line no-await-in-loop -- it waits until the page is there and firings have ended
      await sleeper.sleep(Math.min(leftMs, LOOK_MS));
    }
    return this.#inFlight.size;
  }

  async #rounds(): Promise<void> {
    while (!this.#isStopping) {
      this.#isInRound = true;
      // oxlint-disable-next-line no-await-in-loop -- a round follows the other
      const restMs = await this.#round();
      this.#isInRound = false;
      // Only one caller at a time may sleep.
      if (this.#isStopping) return this.#needs.sleeper.interrupt();
      // oxlint-disable-next-line no-await-in-loop -- a round follows the other
      if (await this.#needs.sleeper.sleep(restMs)) this.#lookAtMs = -Infinity;
    }
  }

  /** Starts what can be started, and returns how long to sleep, in milliseconds. */
  async #round(): Promise<number> {
    try {
      this.#lookIfTime();
      if (this.#startAll()) return this.#limitedMs();
      await this.#read();
      if (this.#isStopping) return 0;
      if (this.#startAll()) return this.#limitedMs();
      return this.#due.isAtEnd ? await this.#untilNextMs() : 0;
    } catch (error) {
      // A source that is closed after a stop fails the page that it was reading.
      if (!this.#isStopping) this.#needs.onFailure(error);
      return LOOK_MS;
    }
  }

  #lookIfTime(): void {
    const nowMs = this.#needs.clock.nowMs();
    const monotonicMs = this.#needs.clock.monotonicMs();
    if (monotonicMs < this.#lookAtMs && !(nowMs >= this.#nextDueMs!)) return;
    this.#due.look(monotonicMs);
    this.#lookAtMs = monotonicMs + LOOK_MS;
    this.#nextDueMs = undefined;
  }

  async #read(): Promise<void> {
    const { clock } = this.#needs;
    const monotonicMs = clock.monotonicMs();
    // Firings may end before the page is there.
    const inFlight = new Map(this.#inFlight);
    const numbers = new Set(inFlight.values());
    this.#readMs = clock.nowMs();
    await this.#due.read(this.#readMs, monotonicMs, {
      isInFlight: (number) => numbers.has(number),
      isBusy: (target) => inFlight.has(target),
      isPaused: (target) => this.#pauses.isPaused(target, monotonicMs),
    });
  }

  /** Starts timers until none can be started, or a limit is met, and returns whether that was a limit. */
  #startAll(): boolean {
    const { clock, settings } = this.#needs;
    const nowMs = clock.nowMs();
    const monotonicMs = clock.monotonicMs();
    const isFull = (): boolean =>
      this.#inFlight.size >= settings.inFlight || this.#bucket.waitMs(monotonicMs) > 0;
    if (isFull()) return true;
    return this.#due.offer(nowMs, (held) => {
      const { target, timer } = held;
      if (this.#inFlight.has(target) || this.#pauses.isPaused(target, monotonicMs)) return 'kept';
      if (isFull()) return 'full';
      this.#bucket.take(monotonicMs);
      this.#inFlight.set(target, timer.number);
      void this.#execute(held, nowMs);
      return 'taken';
    });
  }

  /** How long to sleep at a limit. A firing that ends interrupts the sleep. */
  #limitedMs(): number {
    // The journal does not signal a timer that is due after this sleep, so it is asked again.
    this.#nextDueMs = undefined;
    return this.#inFlight.size >= this.#needs.settings.inFlight
      ? LOOK_MS
      : this.#bucket.waitMs(this.#needs.clock.monotonicMs());
  }

  async #untilNextMs(): Promise<number> {
    const { clock, source } = this.#needs;
    this.#nextDueMs ??= (await source.earliestMs(this.#readMs)) ?? Infinity;
    const untilDueMs = this.#nextDueMs - clock.nowMs();
    return Math.max(0, Math.min(untilDueMs, this.#lookAtMs - clock.monotonicMs(), LOOK_MS));
  }

  async #execute({ timer, target }: HeldTimer, nowMs: number): Promise<void> {
    const { clock, fire, onFailure, sleeper } = this.#needs;
    let answer: FiringAnswer = { outcome: 'unavailable' };
    try {
      const firing = await this.#firingOf(timer, nowMs);
      if (firing === undefined) answer = { outcome: 'gone' };
      // A long input may come after the stop.
      else if (!this.#isStopping) answer = await fire(firing);
      if (answer.reason !== undefined) onFailure(new Error(answer.reason));
    } catch (error) {
      onFailure(error);
    }
    this.#inFlight.delete(target);
    if (answer.outcome === 'settled' || answer.outcome === 'gone') this.#pauses.forget(target);
    else this.#pauses.begin(target, clock.monotonicMs());
    sleeper.interrupt();
  }

  /** Returns undefined if the timer is gone or damaged. */
  async #firingOf(timer: DueTimer, nowMs: number): Promise<Firing | undefined> {
    const { number, target, command, dueMs, attempts, traceParent } = timer;
    const input = timer.input ?? (await this.#needs.source.input(number));
    if (input === undefined) return undefined;
    const following = this.#following(timer, nowMs);
    return { number, target, command, input, dueMs, attempts, traceParent, ...following };
  }

  #following(
    { schedule, dueMs }: DueTimer,
    nowMs: number,
  ): Pick<Firing, 'rearmMs' | 'missed' | 'scheduleProblem'> {
    if (schedule === undefined) return { rearmMs: undefined, missed: 0 };
    try {
      const { dueMs: rearmMs, missed } = this.#needs.following(schedule, dueMs, nowMs);
      return { rearmMs, missed };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const scheduleProblem = `the schedule of the timer cannot be evaluated: ${reason}`;
      return { rearmMs: undefined, missed: 0, scheduleProblem };
    }
  }
}
