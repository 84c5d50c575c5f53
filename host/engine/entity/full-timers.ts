// FullTimers remembers that the journal has refused timers lately, because there are too many. An append that is refused
// fails all commands of its entity that were decided after it. So for a while no call of an entity is decided while an
// append that sets timers is under way: nothing depends on an append that is refused.
import type { SvcError } from '@svc/kit/svc-error';
import type { MonotonicClock } from '../needs/clock.ts';
import type { TimerWrites } from '../needs/timers.ts';

/** How long a refusal is remembered, in milliseconds. */
const REMEMBERED_MS = 10_000;

export class FullTimers {
  readonly #clock: MonotonicClock;
  #refusedMs = -Infinity;

  constructor(clock: MonotonicClock) {
    this.#clock = clock;
  }

  /** Called when an append has failed. */
  failed({ code }: SvcError): void {
    if (code === 'SVC_TIMERS_FULL') this.#refusedMs = this.#clock.monotonicMs();
  }

  /** Whether the journal may refuse these timers because there are too many. */
  mayRefuse(timers: TimerWrites | undefined): boolean {
    if (timers === undefined || this.#refusedMs === -Infinity) return false;
    const passedMs = this.#clock.monotonicMs() - this.#refusedMs;
    return passedMs < REMEMBERED_MS && timers.changes.some(({ kind }) => kind === 'set');
  }
}
