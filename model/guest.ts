// Guest is what the engine needs of a hosting: entities whose state a guest holds, and endpoints that a guest serves. All
// hostings implement this interface, and one suite tests them.
import type { ModuleDescriptor } from '@svc/contract';
import type { Awaitable, CallContext, Effect, Metadata, Refusal, Reply, Spent } from './call.ts';
import type { EndpointRequest, EndpointResponse } from './endpoint.ts';
import type { Verdict } from './consumer.ts';
import type { EntityEvent, EntityRef, JournalRecord, StoredEvent } from './entity.ts';
import type { GuestFault } from './guest-fault.ts';
import type { ServiceRequest, ServiceResponse } from './service-call.ts';
import type { Timer } from './timer.ts';
import type { KeyedEvent, RowPage, RowState } from './view.ts';

export interface Guest {
  /**
   * Identifies the code among all code that could fold the same events to other states. Without a fingerprint no snapshots
   * are stored.
   */
  readonly fingerprint?: string | undefined;
  readonly descriptor: ModuleDescriptor;
  readonly entities: GuestEntities;
  readonly endpoints: GuestEndpoints;
  /** Present if the descriptor declares views. */
  readonly views?: GuestViews | undefined;
  /** Present if the descriptor declares consumers. */
  readonly consumers?: GuestConsumers | undefined;
  /** Ends every instance. Calls under way fail with a GuestFault. */
  close(): Awaitable<void>;
}

export interface GuestEntities {
  /**
   * Opens the entity in its empty state, or in the state of a snapshot. `alone`: in an instance of its own, so that a
   * fault of this entity destroys no other entity, and the other way round. Throws GuestFault.
   */
  open(entity: EntityRef, snapshot: string | undefined, alone?: boolean): Awaitable<GuestEntity>;
  /**
   * Returns entities that are to be closed because memory runs short, least recently used first, at most `max`.
   * Entities that share memory are listed together, so that the memory can be freed. The list is empty while there is
   * enough memory.
   */
  toClose?(max: number): readonly EntityRef[];
  /**
   * Returns the part of a command's input that is compared with that of an earlier command with the same idempotency key, as
   * text. Absent, or undefined: the input itself. Throws GuestFault.
   */
  comparedInput?(component: string, command: string, input: string): string | undefined;
}

/**
 * One live entity. Calls never overlap: the engine makes a call after the last one has returned. Each call may throw
 * GuestFault; then `lost` is true, for this entity and every other entity of its instance.
 */
export interface GuestEntity {
  /** True after its instance was destroyed: close the entity, open it again and replay its journal. */
  readonly lost: boolean;
  /**
   * Folds events in order, and adds the fuel that this uses to `spent`. Returns a message if an event could not be
   * decoded; then the entity can no longer be used.
   */
  apply(events: readonly StoredEvent[], spent: Spent | undefined): Awaitable<string | undefined>;
  /** Decides a command, and does not change the state. */
  command(context: CallContext, name: string, input: string): Awaitable<Effect | Refusal>;
  /** Answers a query, and does not change the state. */
  query(context: CallContext, name: string, input: string): Awaitable<Reply | Refusal>;
  /**
   * Computes the reply to the last command, `name`, whose effect has none, from the current state, which is the state after
   * its events. Called once, with the context of the command.
   */
  reply(context: CallContext, name: string): Awaitable<Reply | Refusal>;
  /** Returns the current state as JSON text. */
  snapshot(): Awaitable<string>;
  close(): void;
}

export interface GuestEndpoints {
  /**
   * True: `handle` reads the body of a request itself, once it has judged what comes before. Absent: a request has its body
   * when it is handled.
   */
  readonly readsBodies?: boolean;
  /**
   * Runs the handler of a route. Requests may overlap. `calls` serves the handler's imports, and is used only until the
   * handler answers. Throws GuestFault.
   */
  handle(
    context: CallContext,
    request: EndpointRequest,
    calls: HostCalls,
  ): Awaitable<EndpointResponse | Refusal>;
}

/**
 * Folds events into the rows of views. Calls never overlap, and depend on nothing but their parameters: whatever
 * the batches, the same rows come out. Each call may throw GuestFault; the next call is not affected by it. A
 * call adds the fuel that it uses to `spent`.
 */
export interface GuestViews {
  /**
   * Returns the keys of the rows that each event concerns, one list for each event, in the order of the events; or a message
   * if an event could not be decoded. Only for a view that declares keys. A list may contain a key twice.
   */
  keys(
    view: string,
    events: readonly EntityEvent[],
    spent?: Spent,
  ): Awaitable<readonly (readonly string[])[] | string>;
  /**
   * Folds each event, in order, into each of its rows. `rows` contains every row that an event names, each key once, in its state
   * before the first event. Returns the rows that have changed, each at most once, in their state after the last event: a
   * row that is not returned stays as it is. Returns a message if an event or a row could not be decoded. All
   * returned keys are among those of `rows`.
   */
  fold(
    view: string,
    rows: readonly RowState[],
    events: readonly KeyedEvent[],
    spent?: Spent,
  ): Awaitable<readonly RowState[] | string>;
}

export interface GuestConsumers {
  /**
   * Lets a consumer handle an event. Calls may overlap. `context` is the same at each attempt; its time and the time
   * of `calls.nowMs` are those of the event. `calls` serves the consumer's imports, and is used only until it answers.
   * Throws GuestFault.
   */
  handle(
    context: CallContext,
    consumer: string,
    event: EntityEvent,
    calls: HostCalls,
  ): Awaitable<Verdict | Refusal>;
}

/**
 * HostCalls are everything that a handler or a consumer can reach while it runs: calls of entities, their events and
 * timers, rows of views, other services, and the clock.
 *
 * A hosting may run the handler without letting it wait: it then uses `speculate` in place of `call`, and `findAtOnce` in place
 * of `find`. When either returns undefined, the hosting aborts the handler. If `remoteAnswer` then returns a promise, the hosting waits for
 * it, and runs the handler again from its beginning without letting it wait. Otherwise the hosting calls `beginReplay`,
 * and runs the handler again from its beginning where it can wait and where its calls go to `call`. A replay gets the
 * same results, and no call is made twice.
 */
export interface HostCalls {
  /** Milliseconds since 1970-01-01T00:00:00Z. Ask only after the handler has waited: until then it has the context's time. */
  nowMs(): number;
  /** Sends a command or query and waits. Throws SvcError or GuestFault when it fails. */
  call(
    target: EntityRef,
    name: string,
    input: string,
    metadata: Metadata,
    idempotencyKey: string | undefined,
  ): Awaitable<Reply | Refusal>;
  /**
   * Does what `call` does, for a handler that cannot wait. The result may be speculative: the answer of the entity
   * unless its write fails. Returns undefined if the handler would have to wait. The handler's answer may be discarded
   * and the handler replayed even after it has returned, when its speculative result was not confirmed. Where the
   * method is absent, run the handler where it can wait. Throws as `call` does.
   */
  readonly speculate?:
    | ((
        target: EntityRef,
        name: string,
        input: string,
        metadata: Metadata,
        idempotencyKey: string | undefined,
      ) => Reply | Refusal | undefined)
    | undefined;
  /**
   * Call it before the handler is run again from its beginning where it can wait. Returns true if the handler has made
   * calls before, so that the request must not be refused as if nothing was done.
   */
  beginReplay?(): boolean;
  /**
   * Call it after `speculate` has returned undefined. If the call was sent to another shard, returns a promise that
   * resolves once the answer is there; then run the handler again from its beginning where it cannot wait. Returns
   * undefined if the handler has to run where it can wait. Rejects when the request is cancelled.
   */
  remoteAnswer?(): Promise<void> | undefined;
  /** Call it when the handler begins to wait for an instance, and when it has one: the time in between is not the handler's. */
  readonly noteWaiting?: ((isWaiting: boolean) => void) | undefined;
  /**
   * Why the request was cancelled, undefined if it was not; once it is set, each call throws this fault, and so ends
   * the handler.
   */
  readonly cancelReason?: GuestFault | undefined;
  /** Restricts the request's idempotency key to a scope, for the calls from now on; nothing happens without a key. */
  scopeKeys?(scope: string): void;
  /** Reads events on disk of an entity's current incarnation, as `EntityEngine.readEvents` does. */
  readEvents(
    entity: EntityRef,
    afterSeq: number,
    limit: number,
  ): Awaitable<readonly (JournalRecord & { readonly kind: 'event' })[]>;
  /**
   * Sets a timer, which belongs to its target. Resolves when the timer is on disk; then it is fired, whatever becomes of the
   * handler. A handler that cannot wait is run again where it can before it sets or cancels a timer. Throws, or rejects
   * with, the SvcErrors of `EntityEngine.changeTimers`; then no timer is changed. `callFailure` says what of them the
   * module receives.
   */
  setTimer(timer: Timer): Awaitable<void>;
  /** Cancels the timer of an entity; there need not be one. Throws, or rejects, as `setTimer` does. */
  cancelTimer(owner: EntityRef, name: string): Awaitable<void>;
  /**
   * Sends a request to another service and waits for its response, whatever its status. A handler that cannot wait is run
   * again where it can before it sends one, so the request is made once. Throws, or rejects with, the SvcErrors of
   * `CalledServices.request`; then nothing was sent.
   */
  request(request: ServiceRequest): Awaitable<ServiceResponse>;
  /**
   * Finds rows of a view by one of its queries, at most `limit` (1 to 1,000). `input`: the query's parameters, JSON text.
   * `cursor`: from the page before; undefined: the first page. Returns a refusal for an unknown view or query, and for
   * parameters or a cursor that are wrong. Absent if the service has no views. Throws SvcError when it fails.
   */
  readonly find?:
    | ((
        view: string,
        query: string,
        input: string,
        limit: number,
        cursor: string | undefined,
      ) => Awaitable<RowPage | Refusal>)
    | undefined;
  /**
   * Does what `find` does, for a handler that cannot wait. Returns undefined if the handler would have to wait, or if the
   * query fails: run the handler where it can wait. Absent if the service has no views, and where `speculate` is absent.
   */
  readonly findAtOnce?:
    | ((...query: Parameters<NonNullable<HostCalls['find']>>) => RowPage | Refusal | undefined)
    | undefined;
}
