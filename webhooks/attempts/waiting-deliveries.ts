// WaitingDeliveries: deliveries whose next attempt is not due yet. What is due in the same 20 ms is due together.
//
// Invariant: nothing is due early.
import type { Clock } from '@svc/kit/clock';
import type { DueDelivery } from './due-delivery.ts';

const TICK_MS = 20;

export class WaitingDeliveries {
  readonly #clock: Clock;
  readonly #due: (delivery: DueDelivery) => void;
  /** Indexed by the number of the tick, of the monotonic clock, at which they are due. */
  readonly #byTick = new Map<number, DueDelivery[]>();
  #size = 0;
  #armedTick = Number.POSITIVE_INFINITY;
  #cancel = () => {};

  /** `due` is called with each delivery when it is due. */
  constructor(clock: Clock, due: (delivery: DueDelivery) => void) {
    this.#clock = clock;
    this.#due = due;
  }

  get size(): number {
    return this.#size;
  }

  add(delivery: DueDelivery, waitMs: number): void {
    const tick = Math.ceil((this.#clock.monotonicMs() + waitMs) / TICK_MS);
    const others = this.#byTick.get(tick);
    if (others === undefined) this.#byTick.set(tick, [delivery]);
    else others.push(delivery);
    this.#size++;
    if (tick < this.#armedTick) this.#arm(tick);
  }

  stop(): void {
    this.#cancel();
    this.#byTick.clear();
    this.#size = 0;
  }

  #arm(tick: number): void {
    this.#cancel();
    this.#armedTick = tick;
    const inMs = Math.max(tick * TICK_MS - this.#clock.monotonicMs(), 0);
    this.#cancel = this.#clock.after(inMs, () => this.#passed());
  }

  #passed(): void {
    const now = this.#clock.monotonicMs() / TICK_MS;
    let next = Number.POSITIVE_INFINITY;
    const due: DueDelivery[] = [];
    for (const [tick, deliveries] of this.#byTick) {
      if (tick > now) next = Math.min(next, tick);
      else {
        due.push(...deliveries);
        this.#byTick.delete(tick);
      }
    }
    this.#size -= due.length;
    this.#armedTick = Number.POSITIVE_INFINITY;
    if (next !== Number.POSITIVE_INFINITY) this.#arm(next);
    for (const delivery of due) this.#due(delivery);
  }
}
