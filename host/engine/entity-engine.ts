// EntityEngine owns the live entities of one guest: it finds the one a call is for, keeps no more of
// them in memory than the limit says, and lets every call finish before it is closed.
import assert from 'node:assert';
import { refusal } from '../model/call.ts';
import type { Awaitable, Metadata, Refusal } from '../model/call.ts';
import type { EntityRef } from '../model/entity.ts';
import type { NameTable } from '../model/name-table.ts';
import { SvcError } from '@svc/kit/svc-error';
import { ENGINE_LIMITS_DEFAULT, type EngineLimits } from './engine-limits.ts';
import { entityIdProblem } from './entity-id.ts';
import { type Component, componentsOf } from './entity/component-table.ts';
import { type PendingCall, EntityCall, type Outcome } from './entity/entity-call.ts';
import { EntityBreaker } from './entity/entity-breaker.ts';
import { FoldBudget } from './entity/fold-budget.ts';
import { FullJournal } from './entity/full-journal.ts';
import { type RecordedEvent, eventsInOrder, unknownDeletion } from './entity/history.ts';
import { idempotencyKeyProblem } from './entity/idempotency.ts';
import { LiveEntity } from './entity/live-entity.ts';
import { Passivation } from './entity/passivation.ts';
import type { Activation } from './entity/replay.ts';
import { PurityCheck } from './entity/purity-check.ts';
import { RefoldCheck } from './entity/refold-check.ts';
import { storedIncarnation } from './entity/stored-incarnation.ts';
import { SnapshotPolicy } from './entity/snapshot-policy.ts';
import type { EntityDependencies } from './entity/entity-dependencies.ts';
import { UnsettledBytes } from './entity/unsettled-bytes.ts';
import type { RandomSource, Clock } from './needs/clock.ts';
import type { Digest } from './needs/digest.ts';
import type { FaultLog } from './needs/fault-log.ts';
import type { Guest } from './needs/guest.ts';
import type { Journal } from './needs/journal.ts';
import { NO_RECORDER, type Recorder } from './needs/recorder.ts';
import type { EventLoop } from './needs/event-loop.ts';
import { quoted } from './quoted.ts';

export interface EngineNeeds {
  readonly guest: Pick<Guest, 'descriptor' | 'entities' | 'fingerprint'>;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly digest: Digest;
  readonly eventLoop: EventLoop;
  readonly faultLog: FaultLog;
  /** Left out: nothing is recorded. */
  readonly recorder?: Recorder;
  /** Those left out have their default. */
  readonly limits?: Partial<EngineLimits>;
}

/** The most events that `readEvents` answers at once. */
export const READ_EVENTS_MAX = 1_000;

/** How much is in memory, and how often that has changed since the engine was made. */
export interface EngineNumbers {
  readonly liveEntities: number;
  readonly activations: Readonly<Record<Activation, number>>;
  /** Entities that were closed because nobody used them, or for the sake of memory. */
  readonly passivations: number;
}

export function createEngine(needs: EngineNeeds): EntityEngine {
  return new EntityEngine(needs);
}

export class EntityEngine {
  readonly #components: NameTable<Component>;
  readonly #journal: Journal;
  readonly #digest: Digest;
  readonly #limits: EngineLimits;
  readonly #dependencies: EntityDependencies<LiveEntity>;
  readonly #breaker: EntityBreaker;
  /** Undefined: the refold check is turned off. */
  readonly #refolds: RefoldCheck | undefined;
  readonly #snapshots: SnapshotPolicy;
  readonly #passivation: Passivation;
  readonly #recorder: Recorder;
  readonly #activations: Record<Activation, number> = { empty: 0, snapshot: 0, folded: 0 };
  #liveCount = 0;
  #passivations = 0;
  #closed: Promise<void> | undefined = undefined;
  #drained: () => void = () => {};

  constructor(needs: EngineNeeds) {
    const { journal, clock, random, faultLog } = needs;
    this.#journal = journal;
    this.#digest = needs.digest;
    this.#recorder = needs.recorder ?? NO_RECORDER;
    this.#limits = { ...ENGINE_LIMITS_DEFAULT, ...needs.limits };
    this.#components = componentsOf(needs.guest);
    this.#breaker = new EntityBreaker(this.#limits, clock);
    const foldBudget = new FoldBudget(clock, needs.eventLoop);
    const incarnation = (entity: EntityRef, fingerprint: string | undefined) =>
      storedIncarnation(journal, entity, fingerprint);
    const { descriptor, entities: unchecked, fingerprint } = needs.guest;
    const { purityCheckInterval, purityRefoldInterval } = this.#limits;
    if (purityRefoldInterval > 0)
      this.#refolds = new RefoldCheck({
        entities: unchecked,
        descriptor,
        incarnation,
        foldBudget,
        faultLog,
        limits: this.#limits,
      });
    const refolded = this.#refolds ?? unchecked;
    const entities =
      purityCheckInterval > 0
        ? new PurityCheck(refolded, descriptor, purityCheckInterval)
        : refolded;
    this.#snapshots = new SnapshotPolicy({
      journal,
      clock,
      faultLog,
      limits: this.#limits,
      fingerprint,
    });
    this.#passivation = new Passivation({
      entities: unchecked,
      limits: this.#limits,
      clock,
      eventLoop: needs.eventLoop,
      find: ({ component, id }) => this.#components.get(component)?.live.get(id),
      count: () => this.#liveCount,
      evict: (entity) => {
        this.#passivations++;
        this.#evict(entity);
      },
    });
    this.#dependencies = {
      entities,
      snapshots: this.#snapshots,
      journal,
      incarnation,
      foldBudget,
      activated: (how) => void this.#activations[how]++,
      clock,
      random,
      eventLoop: needs.eventLoop,
      limits: this.#limits,
      faultLog,
      breaker: this.#breaker,
      unsettled: new UnsettledBytes(),
      fullJournal: new FullJournal(clock),
      idle: (entity) => this.#becameIdle(entity),
      busy: (entity) => this.#passivation.idle.remove(entity),
      gone: (entity) => this.#forget(entity),
    };
  }

  /**
   * Sends a command or a query, whichever the descriptor says `name` is, to an entity. Answers a
   * plain value where nothing has to be waited for (a query on an entity in memory), a promise
   * elsewhere. A reply to a command is given after its events are on disk.
   *
   * A command with an idempotency key is done once: repeated, it is answered as it was the first time, for as
   * long as `idempotencyRetentionMs`. A query needs none.
   *
   * Refuses with NOT_FOUND (no such component, command or query), BAD_REQUEST (an entity id or an idempotency
   * key that cannot be) and UNPROCESSABLE (a key that came with another command or input before, events that are
   * too large to be stored). Throws, or rejects with: GuestFault; SvcError SVC_OVERLOADED, SVC_STOPPING, SVC_JOURNAL_UNAVAILABLE, SVC_JOURNAL_FULL,
   * SVC_JOURNAL_CORRUPT, SVC_EVENT_UNREADABLE, SVC_ENTITY_HELD_BACK, SVC_STATE_CHANGED.
   */
  call(
    target: EntityRef,
    name: string,
    input: string,
    metadata: Metadata,
    idempotencyKey?: string,
  ): Awaitable<Outcome> {
    const call = this.#submit(target, name, input, metadata, idempotencyKey);
    return call instanceof EntityCall ? call.result() : call;
  }

  /**
   * As `call`, for a caller that can use a speculative result: answers the outcome, or a pending call, which may have a
   * speculative result. Refuses and throws as `call` does.
   */
  speculate(
    target: EntityRef,
    name: string,
    input: string,
    metadata: Metadata,
    idempotencyKey?: string,
  ): Outcome | PendingCall {
    const call = this.#submit(target, name, input, metadata, idempotencyKey);
    return call instanceof EntityCall ? call.speculativeResult() : call;
  }

  #submit(
    target: EntityRef,
    name: string,
    input: string,
    metadata: Metadata,
    idempotencyKey: string | undefined,
  ): EntityCall | Refusal {
    if (this.#closed !== undefined) throw stopping();
    const component = this.#components.get(target.component);
    if (component === undefined)
      return refusal('NOT_FOUND', `there is no component ${quoted(target.component)}`);
    const handler = component.handlers.get(name);
    if (handler === undefined)
      return refusal(
        'NOT_FOUND',
        `component ${quoted(target.component)} has no command or query ${quoted(name)}`,
      );
    if (idempotencyKey !== undefined) {
      const problem = idempotencyKeyProblem(idempotencyKey);
      if (problem !== undefined)
        return refusal(
          'BAD_REQUEST',
          `the idempotency key ${problem} (SVC_IDEMPOTENCY_KEY_INVALID)`,
        );
    }
    let entity = component.live.get(target.id);
    if (entity === undefined) {
      const problem = entityIdProblem(target.id);
      if (problem !== undefined) return refusal('BAD_REQUEST', `the entity id ${problem}`);
    }
    const { kind, place } = handler;
    // To ask again changes nothing, so a query needs no key.
    const idempotency =
      idempotencyKey === undefined || kind === 'query'
        ? undefined
        : { key: idempotencyKey, digest: this.#digest(`${name}\n${input}`) };
    const call = new EntityCall(kind, name, input, metadata, idempotency);
    // The entity's own text stays in memory anyhow; that of the request goes with it.
    call.recordedBy(this.#recorder, place, entity?.ref.id ?? target.id);
    try {
      if (entity === undefined) {
        // An entity that is in memory, or on its way there, is not backed off.
        const backedOff = this.#breaker.refusalOf(target);
        if (backedOff !== undefined) throw backedOff;
        entity = this.#enter(component, target);
      }
      entity.submit(call);
    } catch (failure) {
      if (failure instanceof SvcError) call.fail(failure);
      throw failure;
    }
    return call;
  }

  /**
   * Events of an entity's current incarnation that are on disk, with `seq > afterSeq`, oldest first, at
   * most `limit` (1 to 1,000), and no more than `READ_UNITS_MAX` of the journal allows. An empty
   * list is the end; an entity that cannot be has nothing else. Rejects with SvcError
   * SVC_JOURNAL_CORRUPT or SVC_JOURNAL_UNAVAILABLE.
   */
  async readEvents(
    entity: EntityRef,
    afterSeq: number,
    limit: number,
  ): Promise<readonly RecordedEvent[]> {
    assert(Number.isSafeInteger(afterSeq) && afterSeq >= 0);
    assert(Number.isSafeInteger(limit) && limit >= 1 && limit <= READ_EVENTS_MAX);
    if (
      this.#components.get(entity.component) === undefined ||
      entityIdProblem(entity.id) !== undefined
    )
      return [];
    let deletedSeq = await this.#journal.lastDeletion(entity);
    for (;;) {
      const startSeq = Math.max(afterSeq, deletedSeq);
      const records = await this.#journal.read(entity, startSeq, limit);
      const deletion = records.findLast((record) => record.kind === 'deleted');
      if (deletion === undefined) return eventsInOrder(entity, records, startSeq);
      // It was deleted in between, and these events belong to the incarnation before.
      deletedSeq = await this.#journal.lastDeletion(entity);
      if (deletedSeq < deletion.seq) throw unknownDeletion(entity, deletion.seq);
    }
  }

  /**
   * Closes entities that were not called for `idleTimeoutMs`, and others where memory is short. To be called
   * now and then, since an engine has no timers. It yields to the event loop, and never rejects.
   */
  passivate(): Promise<void> {
    return this.#passivation.run();
  }

  /** For introspection. */
  get numbers(): EngineNumbers {
    const { empty, snapshot, folded } = this.#activations;
    return {
      liveEntities: this.#liveCount,
      activations: { empty, snapshot, folded },
      passivations: this.#passivations,
    };
  }

  /**
   * Refuses new calls with SVC_STOPPING, and waits until those under way are answered and every
   * append has settled. The journal and the guest stay open: they are their owner's.
   */
  close(): Promise<void> {
    this.#closed ??= this.#drain();
    return this.#closed;
  }

  async #drain(): Promise<void> {
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

  #enter(component: Component, { component: componentId, id }: EntityRef): LiveEntity {
    const ref = { component: componentId, id };
    this.#passivation.makeMemory();
    const entity = new LiveEntity(ref, component.eventManifest, this.#dependencies);
    component.live.set(id, entity);
    this.#liveCount++;
    this.#passivation.makeRoom();
    return entity;
  }

  #becameIdle(entity: LiveEntity): void {
    this.#passivation.idle.touch(entity);
    if (this.#liveCount > this.#limits.liveEntitiesMax) this.#passivation.makeRoom();
    this.#noticeDrained();
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
    this.#noticeDrained();
  }

  #noticeDrained(): void {
    if (this.#liveCount === this.#passivation.idle.size) this.#drained();
  }
}

function stopping(): SvcError {
  return new SvcError(
    'SVC_STOPPING',
    'The service is being stopped and takes no new calls. Try again when it is up.',
  );
}
