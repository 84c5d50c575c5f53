// TargetPauses are the entities to which no firing is sent for a while, because the runtime could not execute the last one.
// The pause of an entity doubles up to a limit, and starts anew after a firing that was executed.
import type { TimerSettings } from '../engine/timer-settings.ts';

/** Most entities that are remembered. Beyond, the one whose pause was set first is forgotten, and so may be tried early. */
const REMEMBERED_MAX = 10_000;

interface Pause {
  readonly pauseMs: number;
  readonly endMs: number;
}

export class TargetPauses {
  readonly #settings: Pick<TimerSettings, 'unavailablePauseMs' | 'unavailablePauseMaxMs'>;
  /** Indexed by target, in the order in which the pauses were set. */
  readonly #pauses = new Map<string, Pause>();

  constructor(settings: Pick<TimerSettings, 'unavailablePauseMs' | 'unavailablePauseMaxMs'>) {
    this.#settings = settings;
  }

  isPaused(target: string, monotonicMs: number): boolean {
    const pause = this.#pauses.get(target);
    return pause !== undefined && monotonicMs < pause.endMs;
  }

  begin(target: string, monotonicMs: number): void {
    const { unavailablePauseMs, unavailablePauseMaxMs } = this.#settings;
    const before = this.#pauses.get(target);
    const doubledMs = before === undefined ? unavailablePauseMs : before.pauseMs * 2;
    const pauseMs = Math.min(doubledMs, unavailablePauseMaxMs);
    this.#pauses.delete(target);
    this.#pauses.set(target, { pauseMs, endMs: monotonicMs + pauseMs });
    if (this.#pauses.size > REMEMBERED_MAX) this.#pauses.delete(this.#pauses.keys().next().value!);
  }

  forget(target: string): void {
    this.#pauses.delete(target);
  }
}
