// EntityEngine takes commands and queries for the entities of one guest. It looks up the component, the handler and the entity
// of a call, refuses the call where one of them cannot exist, and submits it to the entity otherwise. EntityRegistry decides
// which entities are in memory.
//
// Invariants
// G1  Once the engine closes it takes no new call, and every call that it took before is answered or fails.
// G2  With leases, every answer is the outcome of an append, or is given after the lease was found to be held: the state from which
//     the answer comes was current at a moment between the call and its answer.
import assert from 'node:assert';
import { refusal } from '@svc/model/call';
import type { Awaitable, Metadata, Refusal } from '@svc/model/call';
import type { EntityRef } from '@svc/model/entity';
import { isEventKey, withoutRound } from '@svc/model/event-key';
import type { NameTable } from '@svc/model/name-table';
import type { TimerChange } from '@svc/model/timer';
import { SvcError } from '@svc/kit/svc-error';
import { ENGINE_LIMITS_DEFAULT, type EngineLimits } from './engine-limits.ts';
import { entityIdProblem } from './entity-id.ts';
import { committedEvents } from './entity/committed-events.ts';
import { type Component, componentsOf } from './entity/component-table.ts';
import { type PendingCall, EntityCall, type Outcome } from './entity/entity-call.ts';
import { type EngineNumbers, EntityRegistry } from './entity/entity-registry.ts';
import type { RecordedEvent } from './entity/history.ts';
import { idempotencyKeyProblem } from './entity/idempotency.ts';
import { stopping } from './entity/stopping.ts';
import { DetachedAppends } from './entity/detached-appends.ts';
import type { EntityDrain, EntitySelection } from './entity/entity-drain.ts';
import { HandlerTimers } from './entity/handler-timers.ts';
import { TimerFirings } from './entity/timer-firings.ts';
import { TimerRules } from './entity/timer-rules.ts';
import { UnsettledBytes } from './entity/unsettled-bytes.ts';
import type { RandomSource, Clock } from './needs/clock.ts';
import type { Digest } from './needs/digest.ts';
import type { DeadTimerLog } from './needs/dead-timer-log.ts';
import type { FaultLog } from './needs/fault-log.ts';
import type { Guest } from '@svc/model/guest';
import type { Journal } from './needs/journal.ts';
import type { Leases } from './needs/leases.ts';
import { NO_RECORDER, type Recorder } from './needs/recorder.ts';
import type { EventLoop } from './needs/event-loop.ts';
import { type Firing, firingMetadata, type FiringOutcome } from './firing.ts';
import { quoted } from './quoted.ts';
import { TIMER_SETTINGS_DEFAULT, type TimerSettings } from './timer-settings.ts';

export interface EngineNeeds {
  readonly guest: Pick<Guest, 'descriptor' | 'entities' | 'fingerprint'>;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly digest: Digest;
  readonly eventLoop: EventLoop;
  readonly faultLog: FaultLog;
  /** Without it, nothing is logged of dead timers. */
  readonly deadTimerLog?: DeadTimerLog;
  /** Returns a failure as it may be stored and printed, without secrets. Absent: as it is. */
  readonly shown?: (text: string) => string;
  /** Without leases, the engine is the only writer of its journal. */
  readonly leases?: Leases | undefined;
  /** Without a recorder nothing is recorded. */
  readonly recorder?: Recorder;
  /** A limit that is left out has its default. */
  readonly limits?: Partial<EngineLimits>;
  /** A setting that is left out has its default. */
  readonly timers?: Partial<TimerSettings>;
}

/** The largest `limit` of `readEvents`. */
export const READ_EVENTS_MAX = 1_000;

export function createEngine(needs: EngineNeeds): EntityEngine {
  return new EntityEngine(needs);
}

export class EntityEngine {
  readonly #components: NameTable<Component>;
  readonly #journal: Journal;
  readonly #leases: Leases | undefined;
  readonly #digest: Digest;
  readonly #guestEntities: Guest['entities'];
  readonly #random: RandomSource;
  readonly #recorder: Recorder;
  readonly #entities: EntityRegistry;
  readonly #detached: DetachedAppends;
  readonly #timers: HandlerTimers;
  readonly #firings: TimerFirings;
  #closed: Promise<void> | undefined = undefined;

  constructor(needs: EngineNeeds) {
    const components = componentsOf(needs.guest);
    const limits = { ...ENGINE_LIMITS_DEFAULT, ...needs.limits };
    this.#components = components;
    this.#journal = needs.journal;
    this.#leases = needs.leases;
    this.#digest = needs.digest;
    this.#guestEntities = needs.guest.entities;
    this.#random = needs.random;
    this.#recorder = needs.recorder ?? NO_RECORDER;
    const unsettled = new UnsettledBytes();
    const settings = { ...TIMER_SETTINGS_DEFAULT, ...needs.timers };
    const timerRules = new TimerRules(components, settings);
    const shared = { components, limits, unsettled, timerRules, recorder: this.#recorder };
    this.#entities = new EntityRegistry({ ...needs, ...shared });
    const detached = new DetachedAppends({ journal: needs.journal, unsettled, limits });
    this.#detached = detached;
    this.#timers = new HandlerTimers({ rules: timerRules, detached, clock: needs.clock });
    this.#firings = new TimerFirings({
      ...needs,
      settings,
      detached,
      commandProblem: (target, command) => timerRules.commandProblem(target, command),
      submit: (firing) => this.#submitFiring(firing),
    });
  }

  /**
   * Sends a command or a query, whichever the descriptor says `name` is, to an entity. Returns a plain value if nothing
   * has to be waited for (a query on an entity in memory), else a promise. A command is answered after its events are
   * on disk.
   *
   * A command with an idempotency key is carried out once: a repeated command gets the first reply, for as long as
   * `idempotencyRetentionMs`. A query needs no key.
   *
   * Refuses with NOT_FOUND (no such component, command or query), BAD_REQUEST (an invalid entity id or idempotency key) and
   * UNPROCESSABLE (a key that came with another command or input before, events that are too large to be stored), and
   * with the refusals of the handler itself. Throws, or rejects with, GuestFault and SvcError SVC_OVERLOADED,
   * SVC_STOPPING, SVC_JOURNAL_UNAVAILABLE, SVC_JOURNAL_FULL, SVC_DISK_FULL, SVC_JOURNAL_CORRUPT, SVC_EVENT_UNREADABLE,
   * SVC_ENTITY_HELD_BACK, SVC_ENTITY_MOVED, SVC_STATE_CHANGED, and SVC_CALL_UNCERTAIN: it is unknown whether the command was executed. Repeated
   * with its idempotency key, it is executed once.
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
   * Does what `call` does, for a caller that can use a speculative result: returns the outcome, or a pending call,
   * which may have a speculative result. Refuses and throws as `call` does.
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
    const keyRefusal = refusalOfKey(idempotencyKey);
    if (keyRefusal !== undefined) return keyRefusal;
    let entity = component.live.get(target.id);
    if (entity === undefined) {
      const problem = entityIdProblem(target.id);
      if (problem !== undefined) return refusal('BAD_REQUEST', `the entity id ${problem}`);
    }
    const { kind, handlerIndex } = handler;
    // A repeated query changes nothing, so it needs no key.
    const idempotency =
      idempotencyKey === undefined || kind === 'query'
        ? undefined
        : { ...withoutRound(idempotencyKey), digest: this.#digestOf(target, name, input) };
    const call = new EntityCall(kind, name, input, metadata, idempotency);
    // The id of a live entity is in memory anyway. Recording that string, and not the request's own, lets the latter be
    // collected.
    call.recordedBy(this.#recorder, handlerIndex, entity?.ref.id ?? target.id);
    try {
      if (this.#leases !== undefined) this.#checkLease(target);
      entity ??= this.#entities.enter(component, target);
      entity.submit(call);
    } catch (failure) {
      if (failure instanceof SvcError) call.fail(failure);
      throw failure;
    }
    return call;
  }

  /** Throws SVC_ENTITY_MOVED. */
  #checkLease(entity: EntityRef): void {
    const moved = this.#entities.refusalOf(entity);
    if (moved !== undefined) throw moved;
  }

  #digestOf({ component }: EntityRef, command: string, input: string): string {
    const compared = this.#guestEntities.comparedInput?.(component, command, input) ?? input;
    return this.#digest(`${command}\n${compared}`);
  }

  /**
   * Reads events of an entity's current incarnation that are on disk, with `seq > afterSeq`, oldest first, at most `limit`
   * (1 to 1,000), and no more than `READ_UNITS_MAX` of the journal allows. An empty list is the end. An unknown component and
   * an invalid id have no events. The events come from the journal, so the node need not hold the lease. Rejects with SvcError SVC_STOPPING, SVC_JOURNAL_CORRUPT or SVC_JOURNAL_UNAVAILABLE.
   */
  async readEvents(
    entity: EntityRef,
    afterSeq: number,
    limit: number,
  ): Promise<readonly RecordedEvent[]> {
    assert(Number.isSafeInteger(afterSeq) && afterSeq >= 0);
    assert(Number.isSafeInteger(limit) && limit >= 1 && limit <= READ_EVENTS_MAX);
    if (this.#closed !== undefined) throw stopping();
    if (
      this.#components.get(entity.component) === undefined ||
      entityIdProblem(entity.id) !== undefined
    )
      return [];
    return committedEvents(this.#journal, entity, afterSeq, limit);
  }

  /**
   * Changes timers of an entity from outside of it, in order, all of them or none. Resolves when the changes are on disk. The
   * entity is not loaded into memory, and neither the shard nor the node need own it. `metadata`: of the call that makes the changes. `nowMs`: the
   * caller's time, from which delays and schedules count, in milliseconds since 1970; default: now.
   *
   * Throws, or rejects with, SvcError SVC_TIMER_INVALID, SVC_TIMERS_FULL, SVC_OVERLOADED, SVC_STOPPING,
   * SVC_ENTITY_MOVED, SVC_JOURNAL_UNAVAILABLE, SVC_JOURNAL_FULL or SVC_DISK_FULL. Then nothing is changed. Rejects with SVC_CALL_UNCERTAIN if it is
   * unknown whether everything is changed or nothing; the same changes can be made again.
   */
  changeTimers(
    owner: EntityRef,
    changes: readonly TimerChange[],
    metadata: Metadata,
    nowMs?: number,
  ): Promise<void> {
    if (this.#closed !== undefined) throw stopping();
    return this.#timers.change(owner, changes, metadata, nowMs);
  }

  /**
   * Executes the command of a due timer in the shard that owns its target, and settles the timer: exactly once for each
   * occurrence, however often the occurrence is fired. It runs alone: while no append of its target is under way, and
   * before any later call of it. A firing of which it is unknown whether it is stored is unavailable: it is fired again, and the
   * journal lets the occurrence have its effect once. Never rejects for a failure of the module or of the journal.
   */
  fire(firing: Firing): Promise<FiringOutcome> {
    const failure =
      this.#closed === undefined ? this.#entities.refusalOf(firing.target) : stopping();
    return failure === undefined
      ? this.#firings.fire(firing)
      : Promise.resolve({ kind: 'unavailable', failure });
  }

  /** Submits the command of a firing, which the component of its target has. Throws SvcError. */
  #submitFiring(firing: Firing): EntityCall {
    const { target, command, input, traceParent } = firing;
    const component = this.#components.get(target.component)!;
    const { firingIndex } = component.handlers.get(command)!;
    const call = new EntityCall('command', command, input, firingMetadata(firing, this.#random));
    call.firing = firing;
    call.startsTrace = traceParent === undefined;
    const live = component.live.get(target.id);
    call.recordedBy(this.#recorder, firingIndex!, live?.ref.id ?? target.id);
    try {
      (live ?? this.#entities.enter(component, target)).submit(call);
    } catch (failure) {
      if (failure instanceof SvcError) call.fail(failure);
      throw failure;
    }
    return call;
  }

  /**
   * Closes entities that were not called for `idleTimeoutMs`, counted from the next run after their last call, and others where
   * memory is short. Call it at intervals, because an engine has no timers of its own. It yields to the event loop, and never rejects.
   */
  passivate(): Promise<void> {
    return this.#entities.passivate();
  }

  /**
   * Begins to hand the leases of entities over, which the engine must have: new calls of the entities fail with SVC_ENTITY_MOVED,
   * those that were taken are executed, and the entities leave memory, with a snapshot where one is worthwhile. The node has to keep
   * the leases until the `done` of the drain has resolved. The caller bounds the time by `cancel` of the drain, and ends the drain
   * once the leases are given up. It may select more entities than are in memory, and is asked for each of those.
   */
  drain(selects: EntitySelection): EntityDrain {
    assert(this.#leases !== undefined);
    return this.#entities.drain(selects, async () => {
      await this.#firings.settled(selects);
      await this.#detached.settled(selects);
    });
  }

  /** Numbers for introspection. */
  get numbers(): EngineNumbers {
    return this.#entities.numbers;
  }

  /**
   * Refuses new calls with SVC_STOPPING, and waits until the calls under way are answered and every append has settled. The
   * journal and the guest stay open, because they belong to the caller.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#entities.close();
    await this.#firings.settled();
    await this.#detached.settled();
  }

  /**
   * Shortens `close` for a stop whose time is over: no entity is loaded into memory any more, and calls that wait for
   * the guest fail with SVC_STOPPING. The call that an entity's guest is executing is still answered, and appends under
   * way still settle.
   */
  cancel(): void {
    this.#entities.cancel();
  }
}

function refusalOfKey(key: string | undefined): Refusal | undefined {
  const isChecked = key === undefined || isEventKey(key);
  const problem = isChecked ? undefined : idempotencyKeyProblem(key);
  return problem === undefined
    ? undefined
    : refusal('BAD_REQUEST', `the idempotency key ${problem} (SVC_IDEMPOTENCY_KEY_INVALID)`);
}
