// EntityDrain lets entities leave memory whose lease is to be handed over: calls that were taken are executed, their appends
// settle, and each entity is closed with a snapshot where one is worthwhile. EntityRegistry reports what becomes of the entities.
//
// Invariants
// D1  From the beginning to `end`, the engine takes no new call of the entities: no entity enters memory.
// D2  `done` resolves when no entity is in memory and nothing of the entities is under way, or when `cancel` has dropped the rest.
import type { EntityRef } from '@svc/model/entity';
import type { MonotonicClock } from '../needs/clock.ts';
import type { EventLoop } from '../needs/event-loop.ts';
import type { LiveEntity } from './live-entity.ts';

/** Selects entities, such as those of some slices of the journal. */
export type EntitySelection = (entity: EntityRef) => boolean;

export interface DrainNeeds {
  readonly clock: MonotonicClock;
  readonly eventLoop: EventLoop;
  /** Closes an idle entity. `left` is called meanwhile. */
  readonly evict: (entity: LiveEntity) => void;
  /** Waits until nothing that the entities have begun is under way. Called when none of them is in memory. */
  readonly settled: () => Promise<void>;
  readonly drop: (selects: EntitySelection) => void;
  /** Drains that have not ended. A drain adds and removes itself. */
  readonly drains: Set<EntityDrain>;
}

/** How long idle entities are closed before the drain yields to the event loop, in milliseconds. */
const SLICE_MS = 5;

export class EntityDrain {
  readonly selects: EntitySelection;
  readonly done: Promise<void>;
  readonly #needs: DrainNeeds;
  /** The selected entities that are in memory. */
  readonly #live: Set<LiveEntity>;
  readonly #empty = Promise.withResolvers<void>();
  readonly #cancelled = Promise.withResolvers<void>();

  /** `live`: the selected entities that are in memory. */
  constructor(selects: EntitySelection, live: Iterable<LiveEntity>, needs: DrainNeeds) {
    this.selects = selects;
    this.#live = new Set(live);
    this.#needs = needs;
    needs.drains.add(this);
    this.done = Promise.race([this.#drained(), this.#cancelled.promise]);
  }

  /** Called when an entity has left memory, whether it was selected or not. */
  left(entity: LiveEntity): void {
    if (this.#live.delete(entity) && this.#live.size === 0) this.#empty.resolve();
  }

  /** Drops the entities that are still in memory. Their appends under way settle, and answer their calls. */
  cancel(): void {
    this.#needs.drop(this.selects);
    this.#cancelled.resolve();
  }

  /** From now on, the engine takes calls of the entities again if the node holds their lease. Call it once `done` has resolved. */
  end(): void {
    this.#needs.drains.delete(this);
  }

  async #drained(): Promise<void> {
    const { clock, eventLoop, evict, settled } = this.#needs;
    let sinceMs = clock.monotonicMs();
    // The registry closes those that are not idle yet.
    for (const entity of this.#live) {
      if (entity.isIdle) evict(entity);
      if (clock.monotonicMs() - sinceMs < SLICE_MS) continue;
      await eventLoop.yield();
      sinceMs = clock.monotonicMs();
    }
    if (this.#live.size > 0) await this.#empty.promise;
    await settled();
  }
}
