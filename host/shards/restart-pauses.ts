// RestartPauses: the circuit breaker of a module whose shard ends again and again. Each end doubles the
// pause before the next start, up to a limit; time that a shard served makes the earlier ends count less,
// little by little: a module that hangs once a minute is held back longer each time, one that does so
// once a day never for long.
import type { SupervisorLimits } from './supervisor-limits.ts';

export class RestartPauses {
  readonly #limits: SupervisorLimits;
  #ends = 0;
  /** The ends, each by how much it still counts. */
  #weight = 0;

  constructor(limits: SupervisorLimits) {
    this.#limits = limits;
  }

  /** How many shards have ended. */
  get ends(): number {
    return this.#ends;
  }

  /** A shard has ended after it served for so long. How long to wait before the next is started, in milliseconds. */
  next(servedMs: number): number {
    const { restartPauseMs, restartPauseMaxMs, restartHalfLifeMs } = this.#limits;
    this.#ends++;
    this.#weight = this.#weight * 2 ** (-servedMs / restartHalfLifeMs) + 1;
    return Math.min(Math.round(restartPauseMs * 2 ** (this.#weight - 1)), restartPauseMaxMs);
  }
}
