// RestartPauses is the circuit breaker of a module whose shard ends repeatedly. Each end doubles the pause before the
// next start, up to a limit. While a shard serves, the earlier ends gradually count less: a module that hangs once a
// minute backs off longer each time, and a module that hangs once a day only briefly.
import type { SupervisorLimits } from './supervisor-limits.ts';

export class RestartPauses {
  readonly #limits: SupervisorLimits;
  #ends = 0;
  /** Sum of the ends, each with its remaining weight. */
  #weight = 0;

  constructor(limits: SupervisorLimits) {
    this.#limits = limits;
  }

  /** Number of times that a shard has ended. */
  get ends(): number {
    return this.#ends;
  }

  /**
   * Notes that a shard ended after it had served for `servedMs`. Returns the pause before the next start, in
   * milliseconds.
   */
  next(servedMs: number): number {
    const { restartPauseMs, restartPauseMaxMs, restartHalfLifeMs } = this.#limits;
    this.#ends++;
    this.#weight = this.#weight * 2 ** (-servedMs / restartHalfLifeMs) + 1;
    return Math.min(Math.round(restartPauseMs * 2 ** (this.#weight - 1)), restartPauseMaxMs);
  }
}
