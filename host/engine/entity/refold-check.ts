// RefoldCheck compares the state of an entity that leaves memory with a fresh fold of its journal. It watches one in
// every `purityRefoldInterval` entities that are opened, and folds the journal of that entity when the entity is
// evicted. It finds changes of the state that PurityCheck missed, and an `apply` that depends on more than state and
// event.
//
// Invariants
// R1  At most one fold is under way, of a limited number of events. No eviction waits for it before the engine closes.
// R2  The fold ends with the last record that the entity had when it was evicted, because its journal may grow meanwhile: the
//     entity is opened again here, or by another node. An entity that was deleted since then is not compared.
// R3  The fold uses the journal alone, so it also finds a snapshot that differs from its events.
// R4  The check does not report a journal that cannot be read or folded: the next caller of the entity gets that error.
import assert from 'node:assert';
import type { ModuleDescriptor } from '@svc/contract';
import type { Awaitable } from '@svc/model/call';
import type { EntityRef } from '@svc/model/entity';
import { GuestFault } from '@svc/model/guest-fault';
import { SvcError } from '@svc/kit/svc-error';
import type { EngineLimits } from '../engine-limits.ts';
import type { FaultLog } from '../needs/fault-log.ts';
import type { GuestEntities, GuestEntity } from '@svc/model/guest';
import { quoted } from '../quoted.ts';
import type { HandlerKind } from './entity-call.ts';
import { type Answer, type Args, ForwardingEntity } from './forwarding-entity.ts';
import { entityName } from './history.ts';
import { replay, type ReplayNeeds } from './replay.ts';
import { differencePath } from './state-difference.ts';

/** Most handlers that a report names. */
const HANDLERS_MAX = 16;
/** The cost of opening and reading an entity, expressed in events. It matters only after `stop`. */
const EVENTS_PER_ENTITY = 100;

interface Needs extends ReplayNeeds {
  readonly descriptor: ModuleDescriptor;
  readonly faultLog: FaultLog;
  readonly limits: ReplayNeeds['limits'] &
    Pick<EngineLimits, 'purityRefoldInterval' | 'purityRefoldEventsMax'>;
}

export class RefoldCheck implements GuestEntities {
  readonly #needs: Needs;
  /** The number of opened entities until the next watched one, that entity included. */
  #left: number;
  /** Sequence number of the last record of the entity that is being evicted; undefined while none is. */
  #evictedSeq: number | undefined = undefined;
  /**
   * The number of events that may still be folded, with EVENTS_PER_ENTITY for each entity; without a limit before
   * `stop`.
   */
  #eventsLeft = Infinity;
  /** The fold under way. */
  #done: Promise<void> | undefined = undefined;

  /** The interval must be 1 or more. */
  constructor(needs: Needs) {
    assert(needs.limits.purityRefoldInterval >= 1);
    this.#needs = needs;
    this.#left = needs.limits.purityRefoldInterval;
  }

  open(ref: EntityRef, snapshot: string | undefined, alone?: boolean): Awaitable<GuestEntity> {
    const { entities, limits } = this.#needs;
    const opened = entities.open(ref, snapshot, alone);
    if (--this.#left > 0) return opened;
    this.#left = limits.purityRefoldInterval;
    if (opened instanceof Promise)
      return opened.then((entity) => new WatchedEntity(this, ref, entity, snapshot !== undefined));
    return new WatchedEntity(this, ref, opened, snapshot !== undefined);
  }

  /**
   * Calls `close`, which closes an entity whose records are all on disk, the last one with the number `seq`. An entity that
   * closes later, because a snapshot of it is taken before, is not compared.
   */
  evict(seq: number, close: () => void): void {
    this.#evictedSeq = seq;
    try {
      close();
    } finally {
      this.#evictedSeq = undefined;
    }
  }

  /**
   * Sequence number of the last record of the entity that is being evicted, which has at most as many events; 0: none is
   * evicted.
   */
  get evictedSeq(): number {
    return this.#evictedSeq ?? 0;
  }

  /** From now on, the limit of one fold applies to all further folds together. */
  stop(): void {
    this.#eventsLeft = this.#needs.limits.purityRefoldEventsMax;
  }

  /** The fold under way; undefined when there is none. It does not reject for a fault of the module or the journal. */
  get underWay(): Promise<void> | undefined {
    return this.#done;
  }

  /** Whether an entity that is being closed is to be compared. */
  takes(events: number): boolean {
    const cost = events + EVENTS_PER_ENTITY;
    return (
      this.#evictedSeq !== undefined &&
      this.#done === undefined &&
      !this.#needs.foldBudget.isCancelled &&
      events <= this.#needs.limits.purityRefoldEventsMax &&
      cost <= this.#eventsLeft
    );
  }

  /**
   * Begins to compare the entity that is being evicted. `state`: its state as it left memory. `handlers`: names of the handlers
   * that ran.
   */
  begin(ref: EntityRef, state: Awaitable<string>, events: number, handlers: string): void {
    this.#eventsLeft -= events + EVENTS_PER_ENTITY;
    this.#done = this.#compare(ref, state, this.evictedSeq, handlers).finally(() => {
      this.#done = undefined;
    });
  }

  async #compare(
    ref: EntityRef,
    state: Awaitable<string>,
    seq: number,
    handlers: string,
  ): Promise<void> {
    const { faultLog } = this.#needs;
    try {
      const kept = await state;
      const replayed = await replay(this.#needs, ref, false, seq);
      if (replayed.kind === 'faulted') return;
      const { guest } = replayed;
      try {
        // Another number: the entity was deleted since then.
        if (guest.lost || replayed.seq !== seq) return;
        const folded = await guest.snapshot();
        if (folded !== kept) faultLog(ref, undefined, this.#differs(ref, folded, kept, handlers));
      } finally {
        guest.close();
      }
    } catch (fault) {
      if (!(fault instanceof SvcError) && !(fault instanceof GuestFault)) throw fault;
    }
  }

  #differs(ref: EntityRef, folded: string, kept: string, handlers: string): SvcError {
    const { descriptor } = this.#needs;
    const entity = descriptor.entities.find(({ component }) => component === ref.component);
    const path =
      entity === undefined
        ? undefined
        : differencePath(folded, kept, entity.state.schema, descriptor.types);
    return new SvcError(
      'SVC_STATE_CHANGED',
      `The state of ${entityName(ref)} was not what its events make` +
        `${path === undefined ? '' : `, at ${path}`}. While it was in memory ran: ${handlers}. One of ` +
        'them changed the state that it was given, or apply depends on more than state and event. ' +
        'The journal holds the events as they were decided.',
    );
  }
}

/** Remembers the handlers that ran on an entity, for the report. */
class WatchedEntity extends ForwardingEntity {
  readonly #check: RefoldCheck;
  readonly #ref: EntityRef;
  readonly #handlers = new Set<string>();
  readonly #isFromSnapshot: boolean;
  /** The number of events that this entity has folded since it was opened. */
  #events = 0;

  constructor(check: RefoldCheck, ref: EntityRef, entity: GuestEntity, isFromSnapshot: boolean) {
    super(entity);
    this.#isFromSnapshot = isFromSnapshot;
    this.#check = check;
    this.#ref = ref;
  }

  override apply(...args: Args<'apply'>): Answer<'apply'> {
    this.#events += args[0].length;
    return this.entity.apply(...args);
  }

  override command(...args: Args<'command'>): Answer<'command'> {
    this.#note('command', args[1]);
    return this.entity.command(...args);
  }

  override query(...args: Args<'query'>): Answer<'query'> {
    this.#note('query', args[1]);
    return this.entity.query(...args);
  }

  override close(...args: Args<'close'>): Answer<'close'> {
    const { entity } = this;
    // If no handler ran, the state is what the fold gave, and there is nothing to compare.
    const events = this.#isFromSnapshot ? this.#check.evictedSeq : this.#events;
    if (entity.lost || this.#handlers.size === 0 || !this.#check.takes(events)) {
      entity.close(...args);
      return;
    }
    const ran = [...this.#handlers].join(', ');
    let state: Awaitable<string>;
    try {
      state = entity.snapshot();
    } catch (fault) {
      if (!(fault instanceof GuestFault)) throw fault;
      entity.close(...args);
      return;
    }
    if (state instanceof Promise) state = state.finally(() => entity.close(...args));
    else entity.close(...args);
    this.#check.begin(this.#ref, state, events, ran);
  }

  #note(kind: HandlerKind, name: string): void {
    if (this.#handlers.size < HANDLERS_MAX) this.#handlers.add(`${kind} ${quoted(name)}`);
  }
}
