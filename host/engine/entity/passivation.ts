// Passivation closes entities that nobody uses: when too many are in memory, when an entity was not called for long, and when
// the hosting runs short of memory. The least recently used entities are closed first. Their state is on disk, and the next
// call brings them back.
//
// Invariants
// P1  Only an idle entity is closed.
// P2  `run` closes entities in slices, and yields to the event loop after each.
import type { EntityRef } from '../../model/entity.ts';
import type { EngineLimits } from '../engine-limits.ts';
import type { Clock } from '../needs/clock.ts';
import type { GuestEntities } from '../needs/guest.ts';
import type { EventLoop } from '../needs/event-loop.ts';
import { IdleList } from './idle-list.ts';
import type { LiveEntity } from './live-entity.ts';

export interface PassivationNeeds {
  readonly entities: Pick<GuestEntities, 'toClose'>;
  readonly limits: Pick<EngineLimits, 'idleTimeoutMs' | 'liveEntitiesMax'>;
  readonly clock: Clock;
  readonly eventLoop: EventLoop;
  /** Finds an entity in memory. */
  readonly find: (ref: EntityRef) => LiveEntity | undefined;
  /** The number of entities in memory. */
  readonly count: () => number;
  /** Closes an idle entity, and removes it from `idle`. */
  readonly evict: (entity: LiveEntity) => void;
}

/** The number of entities that are closed for memory as one comes in: more than one, so that memory is freed. */
const CLOSED_FOR_ONE = 16;
/** The size of a slice of `run`, beside its time, which a clock of milliseconds does not see for few entities. */
const SLICE_ENTITIES = 256;
const SLICE_MS = 5;

export class Passivation {
  readonly idle = new IdleList<LiveEntity>();
  readonly #needs: PassivationNeeds;
  #underWay: Promise<void> | undefined = undefined;
  #isStopped = false;

  constructor(needs: PassivationNeeds) {
    this.#needs = needs;
  }

  /** Closes entities above the limit. Call it when an entity has come into memory or has become idle. */
  makeRoom(): void {
    const { limits, count, evict } = this.#needs;
    while (count() > limits.liveEntitiesMax) {
      const { oldest } = this.idle;
      if (oldest === undefined || !oldest.isIdle) return;
      evict(oldest);
    }
  }

  /** Closes entities where the hosting runs short of memory. Call it before an entity comes into memory. */
  makeMemory(): void {
    this.#closeForMemory(CLOSED_FOR_ONE);
  }

  /** Closes the entities that are due. While a run is under way, answers that run. */
  run(): Promise<void> {
    this.#underWay ??= this.#run().finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  /** Ends a run that is under way, and lets further runs close nothing. */
  stop(): void {
    this.#isStopped = true;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped && this.#closesSlice()) await this.#needs.eventLoop.yield();
  }

  /** Closes a slice. Answers whether more may be due. */
  #closesSlice(): boolean {
    const { clock, evict } = this.#needs;
    const sinceMs = clock.nowMs();
    this.#keepInTime(sinceMs);
    for (let closed = 0; closed < SLICE_ENTITIES; closed++) {
      const due = this.#due(sinceMs);
      if (due === undefined) return this.#closeForMemory(SLICE_ENTITIES) > 0;
      evict(due);
      if (clock.nowMs() - sinceMs >= SLICE_MS) return true;
    }
    return true;
  }

  #due(nowMs: number): LiveEntity | undefined {
    const { idleTimeoutMs } = this.#needs.limits;
    const { oldest } = this.idle;
    if (idleTimeoutMs === 0 || oldest === undefined || !oldest.isIdle) return undefined;
    return nowMs - oldest.usedMs >= idleTimeoutMs ? oldest : undefined;
  }

  /** Corrects times after a clock was set back, which must not keep entities in memory for longer. */
  #keepInTime(nowMs: number): void {
    for (let entity = this.idle.oldest; entity !== undefined; entity = this.idle.after(entity)) {
      if (entity.usedMs <= nowMs) return;
      entity.usedMs = nowMs;
    }
  }

  /** Closes entities that the hosting names. Answers how many were closed. */
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
