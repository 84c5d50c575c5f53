// EntityTimers: the timers of an entity under test, which follow the runtime's rules on the clock of the test.
import type { ModuleDescriptor } from '@svc/contract';
import {
  type Effect,
  type EntityRef,
  type FiringEnd,
  MemoryTimers,
  Occurrences,
  type Refusal,
  type StoredTimer,
  type SvcError,
  TIMER_LIMITS_DEFAULT,
  TIMER_SETTINGS_DEFAULT,
  type TimerProblem,
  TimerRules,
  componentsOf,
  deletesEntity,
  timerWrite,
} from '@svc/host/tools';
import { type DueFiring, answeredEnd, firingOf } from './firings.ts';

export class EntityTimers {
  readonly #entity: EntityRef;
  readonly #rules: TimerRules;
  readonly #occurrences = new Occurrences();
  readonly #timers = new MemoryTimers(TIMER_LIMITS_DEFAULT, this.#occurrences);

  constructor(entity: EntityRef, descriptor: ModuleDescriptor) {
    this.#entity = entity;
    this.#rules = new TimerRules(componentsOf({ descriptor }), TIMER_SETTINGS_DEFAULT);
  }

  /** Returns what is wrong with the timers that a command changes at `nowMs`; undefined if they may be stored. */
  problemOf(decided: Effect | Refusal, nowMs: number): TimerProblem | undefined {
    if (decided.kind === 'refusal' || decided.timers === undefined) return undefined;
    return this.#rules.problemOf(decided.timers, nowMs);
  }

  /**
   * Returns the first firing that is due until a time, as it is when the clock has reached it; undefined if there is
   * none. Times are in milliseconds since 1970.
   */
  next(nowMs: number, untilMs: number): DueFiring | undefined {
    const [timer] = this.#timers.due(untilMs, 1);
    return timer && firingOf(timer, Math.max(nowMs, timer.nextMs), this.#occurrences);
  }

  /**
   * Makes the changes of a command at `nowMs`, and ends the firing that has sent it. Returns the failure of the command
   * if its timers cannot be stored; undefined if they are.
   */
  store(effect: Effect, nowMs: number, firing: DueFiring | undefined): SvcError | undefined {
    const cause = { nowMs, traceParent: undefined };
    return this.#timers.apply(this.#entity, deletesEntity(effect), {
      firing: firing && { occurrence: firing.timer, end: answeredEnd(firing) },
      changes: (effect.timers ?? []).map((change) => timerWrite(change, cause)),
    });
  }

  /** Ends a firing whose command was refused at `nowMs`. With TOO_MANY_REQUESTS it is tried again. */
  refused(firing: DueFiring, code: string, nowMs: number): void {
    const end = code === 'TOO_MANY_REQUESTS' ? failedEnd(firing.timer, nowMs) : answeredEnd(firing);
    this.#timers.apply(this.#entity, false, {
      firing: { occurrence: firing.timer, end },
      changes: [],
    });
  }
}

/** Returns the end of a firing that has failed. The pause is the longest that the runtime draws. */
function failedEnd({ attempts, attemptsMax }: StoredTimer, nowMs: number): FiringEnd {
  const { retryPauseMs, retryPauseMaxMs } = TIMER_SETTINGS_DEFAULT;
  const fault = 'it was refused with TOO_MANY_REQUESTS';
  if (attempts + 1 >= (attemptsMax ?? TIMER_SETTINGS_DEFAULT.attemptsMax))
    return { kind: 'dead', fault };
  const pauseMs = Math.min(retryPauseMs * 2 ** attempts, retryPauseMaxMs);
  return { kind: 'retry', nextMs: nowMs + pauseMs, fault };
}
