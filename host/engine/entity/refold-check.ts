// RefoldCheck compares entities that leave memory with what their events make: of every so many
// that are opened it watches one, and when that is evicted, folds its journal anew. It finds what a
// check of single calls missed, and an apply that depends on more than state and event.
//
// Invariants
// R1  One fold under way at most, of at most so many events; eviction waits for none.
// R2  An entity that is opened again while it is folded is not judged: its journal may have grown.
// R3  It folds from the journal alone: a snapshot that is not what its events make is found so.
// R4  What keeps the journal from being read or folded is no finding: whoever opens it meets it.
import assert from 'node:assert';
import type { ModuleDescriptor } from '@svc/contract';
import type { Awaitable } from '../../model/call.ts';
import type { EntityRef } from '../../model/entity.ts';
import { GuestFault } from '../../model/guest-fault.ts';
import { SvcError } from '@svc/kit/svc-error';
import type { EngineLimits } from '../engine-limits.ts';
import type { FaultLog } from '../needs/fault-log.ts';
import type { GuestEntities, GuestEntity } from '../needs/guest.ts';
import { quoted } from '../quoted.ts';
import type { HandlerKind } from './entity-call.ts';
import { type Answer, type Args, ForwardingEntity } from './forwarding-entity.ts';
import { entityName } from './history.ts';
import { replay, type ReplayNeeds } from './replay.ts';
import { differencePath } from './state-difference.ts';

/** Handlers that a report names. */
const HANDLERS_MAX = 16;
/** What opening and reading an entity costs at a stop, in events. */
const EVENTS_PER_ENTITY = 100;

interface Needs extends ReplayNeeds {
  readonly descriptor: ModuleDescriptor;
  readonly faultLog: FaultLog;
  readonly limits: ReplayNeeds['limits'] &
    Pick<EngineLimits, 'purityRefoldInterval' | 'purityRefoldEventsMax'>;
}

export class RefoldCheck implements GuestEntities {
  readonly #needs: Needs;
  #left: number;
  /** How many records the entity that is being evicted has; undefined: none is. */
  #evictedRecords: number | undefined = undefined;
  /** Events that may still be folded. */
  #eventsLeft = Infinity;
  #current: { readonly ref: EntityRef; isOpenedAgain: boolean } | undefined = undefined;
  #done: Promise<void> | undefined = undefined;

  /** With an interval of 1 or more. */
  constructor(needs: Needs) {
    assert(needs.limits.purityRefoldInterval >= 1);
    this.#needs = needs;
    this.#left = needs.limits.purityRefoldInterval;
  }

  open(ref: EntityRef, snapshot: string | undefined, alone?: boolean): Awaitable<GuestEntity> {
    const { entities, limits } = this.#needs;
    const current = this.#current;
    if (current?.ref.id === ref.id && current.ref.component === ref.component)
      current.isOpenedAgain = true;
    const opened = entities.open(ref, snapshot, alone);
    if (--this.#left > 0) return opened;
    this.#left = limits.purityRefoldInterval;
    if (opened instanceof Promise)
      return opened.then((entity) => new WatchedEntity(this, ref, entity, snapshot !== undefined));
    return new WatchedEntity(this, ref, opened, snapshot !== undefined);
  }

  /**
   * Closes an entity whose state is what the journal holds. One that closes later, because its state is kept
   * before, is not compared: it may have been opened again.
   */
  evict(records: number, close: () => void): void {
    this.#evictedRecords = records;
    try {
      close();
    } finally {
      this.#evictedRecords = undefined;
    }
  }

  /** No less than the events of the entity that is being evicted. */
  get evictedRecords(): number {
    return this.#evictedRecords ?? 0;
  }

  /** From here on, all folds together have the limit of one. */
  stop(): void {
    this.#eventsLeft = this.#needs.limits.purityRefoldEventsMax;
  }

  /** The fold under way; it never rejects for a fault of the module or the journal. */
  get underWay(): Promise<void> | undefined {
    return this.#done;
  }

  /** Whether an entity that is being closed is to be folded anew. */
  takes(events: number): boolean {
    const cost = events + EVENTS_PER_ENTITY;
    return (
      this.#evictedRecords !== undefined &&
      this.#current === undefined &&
      !this.#needs.foldBudget.isCancelled &&
      events <= this.#needs.limits.purityRefoldEventsMax &&
      cost <= this.#eventsLeft
    );
  }

  begin(ref: EntityRef, state: Awaitable<string>, events: number, handlers: string): void {
    this.#eventsLeft -= events + EVENTS_PER_ENTITY;
    const current = { ref, isOpenedAgain: false };
    this.#current = current;
    this.#done = this.#compare(ref, state, handlers, current).finally(() => {
      this.#current = undefined;
      this.#done = undefined;
    });
  }

  async #compare(
    ref: EntityRef,
    state: Awaitable<string>,
    handlers: string,
    current: { readonly isOpenedAgain: boolean },
  ): Promise<void> {
    const { faultLog } = this.#needs;
    try {
      const kept = await state;
      const replayed = await replay(this.#needs, ref, false);
      if (replayed.kind === 'faulted') return;
      const { guest } = replayed;
      try {
        if (guest.lost) return;
        const folded = await guest.snapshot();
        if (!current.isOpenedAgain && folded !== kept)
          faultLog(ref, undefined, this.#differs(ref, folded, kept, handlers));
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

/** Remembers what ran, for the report. */
class WatchedEntity extends ForwardingEntity {
  readonly #check: RefoldCheck;
  readonly #ref: EntityRef;
  readonly #handlers = new Set<string>();
  readonly #isFromSnapshot: boolean;
  /** Events that were folded here. */
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
    // An entity on which nothing ran is what was folded a moment ago.
    const events = this.#isFromSnapshot ? this.#check.evictedRecords : this.#events;
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
