// TimerSeries: the metrics of a journal's timers, in memory that the thread which fires timers shares with the main
// thread. All of them are 0 while no timer was ever stored.
import { SharedSeries } from '@svc/model/shared-series';

const NUMBERS = ['pending', 'dead', 'overdue-ms'] as const;
const MS_PER_S = 1_000;

export interface TimerCounts {
  readonly pending: number;
  readonly dead: number;
  /** When the earliest pending timer is fired, in milliseconds since 1970; undefined: none is pending. */
  readonly earliestMs: number | undefined;
}

export class TimerSeries {
  readonly #numbers: SharedSeries<(typeof NUMBERS)[number]>;

  /** `shared`: memory of the other thread's TimerSeries; without it, new memory is allocated. */
  constructor(shared?: SharedArrayBuffer) {
    this.#numbers = new SharedSeries(NUMBERS, shared);
  }

  /** Memory to create the other thread's TimerSeries with. */
  get shared(): SharedArrayBuffer {
    return this.#numbers.shared;
  }

  /** Sets the counts. `nowMs`: the time at which they were taken, in milliseconds since 1970. */
  counted({ pending, dead, earliestMs }: TimerCounts, nowMs: number): void {
    this.#numbers.set('pending', pending);
    this.#numbers.set('dead', dead);
    this.#numbers.set('overdue-ms', Math.max(0, nowMs - (earliestMs ?? nowMs)));
  }

  /** Returns the counts as they were taken last. */
  read(): {
    readonly pending: number;
    readonly dead: number;
    /** Seconds since the earliest pending timer was to be fired; 0 if none is overdue. */
    readonly overdueSeconds: number;
  } {
    return {
      pending: this.#numbers.get('pending'),
      dead: this.#numbers.get('dead'),
      overdueSeconds: this.#numbers.get('overdue-ms') / MS_PER_S,
    };
  }
}
