// EntityBreaker holds back the entities that cannot be brought into memory because their own events make
// the module fault: each try would fold a journal for nothing, and take an instance away. After so many
// faults in a row an entity is held back for a while, then tried once; each time that fails it is held
// back longer. It remembers entities beyond their life in memory, and no more than so many of them.
import type { EntityRef } from '../../model/entity.ts';
import { SvcError } from '@svc/kit/svc-error';
import type { EngineLimits } from '../engine-limits.ts';
import type { Clock } from '../needs/clock.ts';
import { entityName } from './history.ts';

/** The one that faulted longest ago is forgotten, and has all its tries again. */
const ENTITIES_MAX = 10_000;

type BreakerLimits = Pick<EngineLimits, 'entityFaultsMax' | 'entityPauseMs' | 'entityPauseMaxMs'>;

interface Faulty {
  /** In a row. */
  faults: number;
  /** 0: it is not held back yet. */
  pauseMs: number;
  sinceMs: number;
  reason: string;
}

export class EntityBreaker {
  readonly #limits: BreakerLimits;
  readonly #clock: Clock;
  /** By component and id, the one that faulted last at the end. */
  readonly #faulty = new Map<string, Faulty>();

  constructor(limits: BreakerLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** SVC_ENTITY_HELD_BACK when it is not to be tried now. */
  refusalOf(entity: EntityRef): SvcError | undefined {
    const faulty = this.#faulty.get(keyOf(entity));
    if (faulty === undefined) return undefined;
    const passedMs = this.#clock.nowMs() - faulty.sinceMs;
    // A clock that was set back must not hold it back for longer.
    if (passedMs < 0 || passedMs >= faulty.pauseMs) return undefined;
    return heldBack(entity, faulty, faulty.pauseMs - passedMs);
  }

  /** Whether it could not be brought into memory the last time. */
  hasFaulted(entity: EntityRef): boolean {
    return this.#faulty.has(keyOf(entity));
  }

  /** Notes a fault. Answers what the log is to say when the entity is held back from now on. */
  faulted(entity: EntityRef, fault: Error): SvcError | undefined {
    const key = keyOf(entity);
    const before = this.#faulty.get(key);
    const faulty: Faulty = {
      faults: (before?.faults ?? 0) + 1,
      pauseMs: 0,
      sinceMs: this.#clock.nowMs(),
      reason: fault.message,
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
    return heldBack(entity, faulty, faulty.pauseMs);
  }

  /** It is in memory: nothing is held against it any more. */
  folded(entity: EntityRef): void {
    if (this.#faulty.size > 0) this.#faulty.delete(keyOf(entity));
  }

  #forgetOldest(): void {
    for (const key of this.#faulty.keys()) {
      this.#faulty.delete(key);
      return;
    }
  }
}

/** Neither name holds a line feed. */
function keyOf({ component, id }: EntityRef): string {
  return `${component}\n${id}`;
}

function heldBack(entity: EntityRef, { faults, reason }: Faulty, leftMs: number): SvcError {
  return new SvcError(
    'SVC_ENTITY_HELD_BACK',
    `The module has faulted ${faults} times in a row while it folded ${entityName(entity)}, so the ` +
      `entity is not tried for another ${leftMs} ms: ${reason.replace(/\.$/, '')}. Run a module that folds its events.`,
    { retryAfterMs: leftMs },
  );
}
