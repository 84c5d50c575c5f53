// Passivation closes idle entities: when too many are in memory, when an entity was not called for long, and when the
// hosting runs short of memory. The least recently used entities are closed first. Their state is on disk, and the next
// call loads them again. A run closes an entity once `idleTimeoutMs` have passed since the run that followed its last use.
//
// Invariants
// P1  Only an idle entity is closed.
// P2  `run` closes entities in slices, and yields to the event loop between two of them.
import type { EntityRef } from '@svc/model/entity';
import type { EngineLimits } from '../engine-limits.ts';
import type { MonotonicClock } from '../needs/clock.ts';
import type { GuestEntities } from '@svc/model/guest';
import type { EventLoop } from '../needs/event-loop.ts';
import { IdleList } from './idle-list.ts';
import type { LiveEntity } from './live-entity.ts';
import { UsePeriods } from './use-periods.ts';

export interface PassivationNeeds {
  readonly entities: Pick<GuestEntities, 'toClose'>;
  readonly limits: Pick<EngineLimits, 'idleTimeoutMs' | 'liveEntitiesMax'>;
  readonly clock: MonotonicClock;
  readonly eventLoop: EventLoop;
  /** Finds an entity in memory. */
  readonly find: (ref: EntityRef) => LiveEntity | undefined;
  /** The number of entities in memory. */
  readonly count: () => number;
  /** Closes an idle entity, and removes it from `idle`. */
  readonly evict: (entity: LiveEntity) => void;
}

/**
 * Maximum number of entities that `makeMemory` closes. It is more than one, because memory is freed only when all
 * entities that share it are closed.
 */
const MAKE_MEMORY_MAX = 16;
/** Maximum number of entities that a slice of `run` closes. SLICE_MS limits the time of a slice as well. */
const SLICE_ENTITIES_MAX = 256;
const SLICE_MS = 5;

export class Passivation {
  readonly idle = new IdleList<LiveEntity>();
  readonly usePeriods = new UsePeriods();
  readonly #needs: PassivationNeeds;
  #underWay: Promise<void> | undefined = undefined;
  #isStopped = false;

  constructor(needs: PassivationNeeds) {
    this.#needs = needs;
  }

  /** Closes entities above `liveEntitiesMax`. Call it when an entity was added or has become idle. */
  makeRoom(): void {
    const { limits, count, evict } = this.#needs;
    while (count() > limits.liveEntitiesMax) {
      const { oldest } = this.idle;
      if (oldest === undefined || !oldest.isIdle) return;
      evict(oldest);
    }
  }

  /** Closes entities if the hosting runs short of memory. Call it before an entity is loaded. */
  makeMemory(): void {
    this.#closeForMemory(MAKE_MEMORY_MAX);
  }

  /** Closes the entities that are due. Returns the present run if one is under way. */
  run(): Promise<void> {
    this.#underWay ??= this.#run().finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  /** Ends a run that is under way. Later runs close nothing. */
  stop(): void {
    this.#isStopped = true;
  }

  async #run(): Promise<void> {
    this.usePeriods.end(this.#needs.clock.monotonicMs());
    while (!this.#isStopped && this.#closeSlice()) await this.#needs.eventLoop.yield();
  }

  /** Closes a slice of entities. Returns whether more may be due. */
  #closeSlice(): boolean {
    const { clock, evict } = this.#needs;
    const sinceMs = clock.monotonicMs();
    for (let closed = 0; closed < SLICE_ENTITIES_MAX; closed++) {
      const due = this.#due(sinceMs);
      if (due === undefined) return this.#closeForMemory(SLICE_ENTITIES_MAX) > 0;
      evict(due);
      if (clock.monotonicMs() - sinceMs >= SLICE_MS) return true;
    }
    return true;
  }

  /** Returns the least recently used entity if it was idle for `idleTimeoutMs`; undefined if no entity was. */
  #due(monotonicMs: number): LiveEntity | undefined {
    const { idleTimeoutMs } = this.#needs.limits;
    const { oldest } = this.idle;
    if (idleTimeoutMs === 0 || oldest === undefined || !oldest.isIdle) return undefined;
    return monotonicMs - oldest.usedIn.endMs >= idleTimeoutMs ? oldest : undefined;
  }

  /** Closes entities that the hosting selects to free memory. Returns how many were closed. */
  #closeForMemory(max: number): number {
    const { entities, find, evict } = this.#needs;
    let closed = 0;
    for (const ref of entities.toClose?.(max) ?? []) {
      const entity = find(ref);
      if (entity === undefined || !entity.isIdle) continue;
      evict(entity);
      closed++;
    }
    return closed;
  }
}
