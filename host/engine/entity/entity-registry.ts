// EntityRegistry owns the entities of an engine that are in memory. An entity is loaded when a call needs it, and
// evicted when it was idle for long, when too many are in memory, when memory runs short, when its lease is handed over, and when
// the engine closes.
// The engine looks entities up in the table of their component.
//
// Invariants
// M1  An entity is in the table of its component, and is counted as live, from `enter` until it is evicted, or until
//     it has neither a state nor anything under way (`gone`).
// M2  `enter` refuses an entity that is backed off after faults.
// M3  Only an idle entity is evicted, so every call finishes first. A drain that is cancelled does not wait for calls.
import type { EntityRef } from '@svc/model/entity';
import type { NameTable } from '@svc/model/name-table';
import type { SvcError } from '@svc/kit/svc-error';
import type { EngineLimits } from '../engine-limits.ts';
import type { Clock, RandomSource } from '../needs/clock.ts';
import type { FaultLog } from '../needs/fault-log.ts';
import type { Guest } from '@svc/model/guest';
import type { Journal } from '../needs/journal.ts';
import type { Leases } from '../needs/leases.ts';
import type { EventLoop } from '../needs/event-loop.ts';
import type { Recorder } from '../needs/recorder.ts';
import { CallExecution } from './call-execution.ts';
import type { Component } from './component-table.ts';
import { EntityBreaker } from './entity-breaker.ts';
import type { EntityDependencies } from './entity-dependencies.ts';
import { EntityDrain, type EntitySelection } from './entity-drain.ts';
import { entityMoved } from './entity-moved.ts';
import { FoldBudget } from './fold-budget.ts';
import { FullJournal } from './full-journal.ts';
import { FullTimers } from './full-timers.ts';
import { LiveEntity } from './live-entity.ts';
import { Passivation } from './passivation.ts';
import { PurityCheck } from './purity-check.ts';
import { RefoldCheck } from './refold-check.ts';
import type { Activation, ReplayNeeds } from './replay.ts';
import { SnapshotPolicy } from './snapshot-policy.ts';
import { storedIncarnation } from './stored-incarnation.ts';
import type { TimerRules } from './timer-rules.ts';
import type { UnsettledBytes } from './unsettled-bytes.ts';

export interface RegistryNeeds {
  readonly guest: Pick<Guest, 'descriptor' | 'entities' | 'fingerprint'>;
  readonly components: NameTable<Component>;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly eventLoop: EventLoop;
  readonly faultLog: FaultLog;
  readonly limits: EngineLimits;
  readonly unsettled: UnsettledBytes;
  readonly timerRules: TimerRules;
  readonly recorder: Recorder;
  readonly leases?: Leases | undefined;
}

/** How many entities are in memory, and how many were loaded and evicted since the engine was created. */
export interface EngineNumbers {
  readonly liveEntities: number;
  readonly activations: Readonly<Record<Activation, number>>;
  /** The number of entities that were evicted before the engine closed, for whatever reason. */
  readonly passivations: number;
}

export class EntityRegistry {
  readonly #components: NameTable<Component>;
  readonly #leases: Leases | undefined;
  readonly #clock: Clock;
  readonly #eventLoop: EventLoop;
  readonly #limits: EngineLimits;
  readonly #breaker: EntityBreaker;
  /** Entities whose calls have taken the process of the guest along. */
  readonly #losses: EntityBreaker;
  readonly #foldBudget: FoldBudget;
  /** Undefined if the refold check is turned off. */
  readonly #refolds: RefoldCheck | undefined;
  readonly #snapshots: SnapshotPolicy;
  readonly #passivation: Passivation;
  readonly #dependencies: EntityDependencies<LiveEntity>;
  /** Drains that have not ended. */
  readonly #drains = new Set<EntityDrain>();
  readonly #activations: Record<Activation, number> = { empty: 0, snapshot: 0, folded: 0 };
  #liveCount = 0;
  #passivations = 0;
  /** Called when all entities in memory are idle; `close` waits for that. */
  #drained: () => void = () => {};

  constructor(needs: RegistryNeeds) {
    const { guest, components, journal, clock, faultLog, limits } = needs;
    this.#components = components;
    this.#leases = needs.leases;
    this.#clock = clock;
    this.#eventLoop = needs.eventLoop;
    this.#limits = limits;
    this.#breaker = new EntityBreaker(limits, clock);
    this.#losses = new EntityBreaker(limits, clock);
    this.#foldBudget = new FoldBudget(clock, needs.eventLoop);
    const replaying: ReplayNeeds = {
      entities: guest.entities,
      incarnation: (entity, fingerprint) => storedIncarnation(journal, entity, fingerprint),
      foldBudget: this.#foldBudget,
      limits,
    };
    this.#refolds = refoldCheck(needs, replaying);
    const { fingerprint } = guest;
    this.#snapshots = new SnapshotPolicy({ journal, clock, faultLog, limits, fingerprint });
    this.#passivation = this.#passivationOf(needs);
    this.#dependencies = this.#dependenciesOf(needs, replaying);
  }

  #passivationOf({ guest, clock, eventLoop, limits }: RegistryNeeds): Passivation {
    return new Passivation({
      entities: guest.entities,
      limits,
      clock,
      eventLoop,
      find: ({ component, id }) => this.#components.get(component)?.live.get(id),
      count: () => this.#liveCount,
      evict: (entity) => this.#passivate(entity),
    });
  }

  #dependenciesOf(needs: RegistryNeeds, replaying: ReplayNeeds): EntityDependencies<LiveEntity> {
    const { guest, journal, clock, random, eventLoop, faultLog, limits, unsettled } = needs;
    const { timerRules } = needs;
    const fullJournal = new FullJournal(clock);
    const fullTimers = new FullTimers(clock);
    const refolded = this.#refolds ?? guest.entities;
    const { purityCheckInterval: interval } = limits;
    return {
      ...replaying,
      entities: interval > 0 ? new PurityCheck(refolded, guest.descriptor, interval) : refolded,
      snapshots: this.#snapshots,
      activated: (how) => void this.#activations[how]++,
      execution: new CallExecution({
        journal,
        clock,
        random,
        faultLog,
        limits,
        unsettled,
        fullJournal,
        timerRules,
        losses: this.#losses,
      }),
      journal,
      clock,
      usePeriods: this.#passivation.usePeriods,
      eventLoop,
      limits,
      faultLog,
      breaker: this.#breaker,
      unsettled,
      fullJournal,
      fullTimers,
      leases: needs.leases,
      idle: (entity) => this.#becameIdle(entity),
      busy: (entity) => this.#passivation.idle.remove(entity),
      gone: (entity) => this.#forget(entity),
    };
  }

  /**
   * Adds an entity to the table of its component, which must not contain it yet. The entity reads the journal at its
   * first call. Throws SVC_ENTITY_HELD_BACK.
   */
  enter(component: Component, { component: componentId, id }: EntityRef): LiveEntity {
    const ref = { component: componentId, id };
    const backedOff = this.#breaker.refusalOf(ref) ?? this.#losses.refusalOf(ref);
    if (backedOff !== undefined) throw backedOff;
    this.#passivation.makeMemory();
    const entity = new LiveEntity(ref, component.eventManifest, this.#dependencies);
    component.live.set(id, entity);
    this.#liveCount++;
    this.#passivation.makeRoom();
    return entity;
  }

  /**
   * Returns SVC_ENTITY_MOVED if the node does not hold the lease of the entity, or hands it over: then nothing new may be begun for
   * the entity. Always undefined without leases.
   */
  refusalOf(entity: EntityRef): SvcError | undefined {
    const isTaken =
      this.#leases === undefined ||
      (this.#leases.epochOf(entity) !== undefined && !this.#isDraining(entity));
    return isTaken ? undefined : entityMoved(entity);
  }

  /** Does what `EntityEngine.drain` does. `settled`: waits for what the engine has begun for the entities besides their calls. */
  drain(selects: EntitySelection, settled: () => Promise<void>): EntityDrain {
    return new EntityDrain(selects, this.#selected(selects), {
      clock: this.#clock,
      eventLoop: this.#eventLoop,
      evict: (entity) => this.#passivate(entity),
      settled: async () => {
        await settled();
        await this.#snapshots.settled();
      },
      drop: (dropped) => this.#drop(dropped),
      drains: this.#drains,
    });
  }

  /**
   * Drops entities: nothing more is decided on their states, or answered from them. Their calls fail with SVC_ENTITY_MOVED, except those
   * whose appends are not settled: these are answered as their appends settle, and the entity is loaded again after that.
   */
  #drop(selects: EntitySelection): void {
    for (const entity of this.#selected(selects)) entity.drop();
  }

  /** Closes entities that were not called for `idleTimeoutMs`, and further ones if memory is short. Never rejects. */
  passivate(): Promise<void> {
    return this.#passivation.run();
  }

  get numbers(): EngineNumbers {
    const { empty, snapshot, folded } = this.#activations;
    return {
      liveEntities: this.#liveCount,
      activations: { empty, snapshot, folded },
      passivations: this.#passivations,
    };
  }

  /** Waits until all entities are idle, and closes them. No call may be submitted after `close` was called. */
  async close(): Promise<void> {
    const { idle } = this.#passivation;
    this.#passivation.stop();
    if (this.#liveCount > idle.size)
      await new Promise<void>((resolve) => {
        this.#drained = resolve;
      });
    await this.#refolds?.underWay;
    this.#refolds?.stop();
    this.#snapshots.stop();
    for (let entity = idle.oldest; entity !== undefined; entity = idle.oldest) {
      this.#evict(entity);
      if (this.#refolds?.underWay !== undefined) await this.#refolds.underWay;
    }
    await this.#snapshots.settled();
  }

  /** Cancels folds. Calls that wait for the guest fail with SVC_STOPPING. Appends under way still settle. */
  cancel(): void {
    this.#foldBudget.cancel();
  }

  #becameIdle(entity: LiveEntity): void {
    this.#passivation.idle.touch(entity);
    if (this.#drains.size > 0 && this.#isDraining(entity.ref)) {
      this.#passivate(entity);
      return;
    }
    if (this.#liveCount > this.#limits.liveEntitiesMax) this.#passivation.makeRoom();
    this.#noticeDrained();
  }

  #isDraining(entity: EntityRef): boolean {
    for (const { selects } of this.#drains) if (selects(entity)) return true;
    return false;
  }

  /** The selected entities that are in memory. */
  #selected(selects: EntitySelection): readonly LiveEntity[] {
    const selected: LiveEntity[] = [];
    for (const { live } of this.#components.values())
      for (const entity of live.values()) if (selects(entity.ref)) selected.push(entity);
    return selected;
  }

  #passivate(entity: LiveEntity): void {
    this.#passivations++;
    this.#evict(entity);
  }

  #evict(entity: LiveEntity): void {
    this.#forget(entity);
    if (this.#refolds === undefined) entity.close();
    else this.#refolds.evict(entity.seq, () => entity.close());
  }

  #forget(entity: LiveEntity): void {
    this.#passivation.idle.remove(entity);
    this.#components.get(entity.ref.component)?.live.delete(entity.ref.id);
    this.#liveCount--;
    for (const drain of this.#drains) drain.left(entity);
    this.#noticeDrained();
  }

  #noticeDrained(): void {
    if (this.#liveCount === this.#passivation.idle.size) this.#drained();
  }
}

function refoldCheck(
  { guest: { descriptor }, faultLog, limits }: RegistryNeeds,
  replaying: ReplayNeeds,
): RefoldCheck | undefined {
  return limits.purityRefoldInterval > 0
    ? new RefoldCheck({ ...replaying, descriptor, faultLog, limits })
    : undefined;
}
