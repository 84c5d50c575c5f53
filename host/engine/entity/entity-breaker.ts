// EntityBreaker is a circuit breaker for entities that fail time and again: whose own events make the code fault, so that they cannot be loaded
// into memory, or whose calls take the process of the code along. A further attempt would be for nothing, and destroy an instance or
// the process. After a number of failures in a row the entity backs off, and is tried once when its back-off is over. Each further failure
// makes the back-off longer.
//
// Invariant: the faults of an entity are remembered after it has left memory, for ENTITIES_MAX entities at most.
import type { EntityRef } from '@svc/model/entity';
import { GuestLost } from '@svc/model/guest-lost';
import { SvcError } from '@svc/kit/svc-error';
import type { EngineLimits } from '../engine-limits.ts';
import type { MonotonicClock } from '../needs/clock.ts';
import { entityName } from './history.ts';

/** Above this number, the entity that faulted longest ago is forgotten, and has all its attempts again. */
const ENTITIES_MAX = 10_000;

type BreakerLimits = Pick<EngineLimits, 'entityFaultsMax' | 'entityPauseMs' | 'entityPauseMaxMs'>;

interface Faulty {
  /** The number of faults in a row. */
  faults: number;
  /** The back-off, in milliseconds; 0: the entity does not back off yet. */
  pauseMs: number;
  /** Time of the last fault by the monotonic clock. */
  sinceMs: number;
  /** The last fault. */
  last: Error;
}

export class EntityBreaker {
  readonly #limits: BreakerLimits;
  readonly #clock: MonotonicClock;
  /** Indexed by component and id. The entity that faulted last is at the end. */
  readonly #faulty = new Map<string, Faulty>();

  constructor(limits: BreakerLimits, clock: MonotonicClock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Returns SVC_ENTITY_HELD_BACK while the entity backs off; undefined if the entity may be loaded. */
  refusalOf(entity: EntityRef): SvcError | undefined {
    const faulty = this.#faulty.get(keyOf(entity));
    if (faulty === undefined) return undefined;
    const leftMs = faulty.pauseMs - (this.#clock.monotonicMs() - faulty.sinceMs);
    return leftMs > 0 ? this.#heldBack(entity, faulty, Math.ceil(leftMs)) : undefined;
  }

  /** Whether the entity has failed since it last succeeded. */
  hasFaulted(entity: EntityRef): boolean {
    return this.#faulty.has(keyOf(entity));
  }

  /**
   * Counts a failure. Returns the error for the log if the entity backs off from now on; undefined if it does not yet.
   */
  faulted(entity: EntityRef, fault: Error): SvcError | undefined {
    const key = keyOf(entity);
    const before = this.#faulty.get(key);
    const faulty: Faulty = {
      faults: (before?.faults ?? 0) + 1,
      pauseMs: 0,
      sinceMs: this.#clock.monotonicMs(),
      last: fault,
    };
    this.#faulty.delete(key);
    this.#faulty.set(key, faulty);
    if (this.#faulty.size > ENTITIES_MAX) this.#forgetOldest();
    const { entityFaultsMax, entityPauseMs, entityPauseMaxMs } = this.#limits;
    if (faulty.faults < entityFaultsMax) return undefined;
    faulty.pauseMs = Math.min(
      Math.max(entityPauseMs, (before?.pauseMs ?? 0) * 2),
      entityPauseMaxMs,
    );
    return this.#heldBack(entity, faulty, faulty.pauseMs);
  }

  /** Forgets the failures of an entity that has succeeded: it was loaded into memory, or has answered. */
  succeeded(entity: EntityRef): void {
    if (this.#faulty.size > 0) this.#faulty.delete(keyOf(entity));
  }

  #heldBack(entity: EntityRef, { faults, last }: Faulty, leftMs: number): SvcError {
    const name = entityName(entity);
    const rest = `so the entity is not tried for another ${leftMs} ms`;
    const message =
      last instanceof GuestLost
        ? `The process that holds the code was lost ${faults} times in a row during a call of ${name}, ${rest}. The lines of the process in the log may say why.`
        : `The code has faulted ${faults} times in a row while it folded ${name}, ${rest}: ${last.message.replace(/\.$/, '')}. Run code that folds its events.`;
    return new SvcError('SVC_ENTITY_HELD_BACK', message, { retryAfterMs: leftMs });
  }

  #forgetOldest(): void {
    for (const key of this.#faulty.keys()) {
      this.#faulty.delete(key);
      return;
    }
  }
}

/** The key is unique, because neither a component nor an id contains a line feed. */
function keyOf({ component, id }: EntityRef): string {
  return `${component}\n${id}`;
}
