// Passivation closes entities that nobody uses: when there are more of them in memory than there may be, when
// they were not called for long, and when the hosting runs short of memory. Those that were not used for longest
// go first. What they hold is on disk, and the next call brings them back.
//
// Invariants
// P1  Only an idle entity is closed.
// P2  Between two slices of what `run` closes, others go first.
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
  /** One that is in memory. */
  readonly find: (ref: EntityRef) => LiveEntity | undefined;
  /** All that are in memory. */
  readonly count: () => number;
  /** Closes an idle entity, and has it taken out of `idle`. */
  readonly evict: (entity: LiveEntity) => void;
}

/** Closed for the sake of memory with each entity that comes in: more than come in, so that there is an end. */
const CLOSED_FOR_ONE = 16;
/** Of what `run` does without a pause. A clock of milliseconds does not see small ones. */
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

  /** One more has come into memory, or one has become idle. */
  makeRoom(): void {
    const { limits, count, evict } = this.#needs;
    while (count() > limits.liveEntitiesMax) {
      const { oldest } = this.idle;
      if (oldest === undefined || !oldest.isIdle) return;
      evict(oldest);
    }
  }

  /** One is about to come into memory. */
  makeMemory(): void {
    this.#closeForMemory(CLOSED_FOR_ONE);
  }

  /** Closes what is due; what is under way already counts. */
  run(): Promise<void> {
    this.#underWay ??= this.#run().finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  /** `run` closes nothing any more. */
  stop(): void {
    this.#isStopped = true;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped && this.#closesSlice()) await this.#needs.eventLoop.yield();
  }

  /** False: there is nothing left to be closed. */
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

  /** A clock that was set back must not keep entities in memory for longer. */
  #keepInTime(nowMs: number): void {
    for (let entity = this.idle.oldest; entity !== undefined; entity = this.idle.after(entity)) {
      if (entity.usedMs <= nowMs) return;
      entity.usedMs = nowMs;
    }
  }

  /** Answers how many were closed. */
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
