// What the engine needs of a hosting: entities that live in a guest, and endpoints that a guest
// serves. Three hostings keep this interface (wasm, embedded, process), and one suite holds them to it.
import type { ModuleDescriptor } from '@svc/contract';
import type {
  Awaitable,
  CallContext,
  Effect,
  Metadata,
  Refusal,
  Reply,
  Spent,
} from '../../model/call.ts';
import type { EndpointRequest, EndpointResponse } from '../../model/endpoint.ts';
import type { EntityRef, JournalRecord, StoredEvent } from '../../model/entity.ts';
import type { GuestFault } from '../../model/guest-fault.ts';

export interface Guest {
  /**
   * Tells the code from every other that could make other states of the same events. Without it no
   * snapshots are kept.
   */
  readonly fingerprint?: string | undefined;
  readonly descriptor: ModuleDescriptor;
  readonly entities: GuestEntities;
  readonly endpoints: GuestEndpoints;
  /** Ends every instance. Calls under way fail with a GuestFault. */
  close(): Awaitable<void>;
}

export interface GuestEntities {
  /**
   * The entity in its empty state, or in the state of a snapshot. `alone`: in an instance that it
   * shares with no other entity, so that neither's fault loses the other. Throws GuestFault.
   */
  open(entity: EntityRef, snapshot: string | undefined, alone?: boolean): Awaitable<GuestEntity>;
  /**
   * Where memory becomes short: entities, at most so many, that had better be closed, so that memory they
   * share can be let go of before others lose theirs; those that were not used for longest. None otherwise.
   */
  toClose?(max: number): readonly EntityRef[];
}

/**
 * One live entity. Calls never overlap: the engine makes the next when the last has come back.
 * Each may throw GuestFault; then `lost` is true, for this entity and every other of its instance.
 */
export interface GuestEntity {
  /** True once its instance was thrown away: close it, open it anew and fold the journal again. */
  readonly lost: boolean;
  /**
   * Folds events in order, and adds what that costs to `spent`. Answers what could not be decoded (the entity is then
   * of no more use).
   */
  apply(events: readonly StoredEvent[], spent: Spent | undefined): Awaitable<string | undefined>;
  /** Decides, and leaves the state as it is. */
  command(context: CallContext, name: string, input: string): Awaitable<Effect | Refusal>;
  query(context: CallContext, name: string, input: string): Awaitable<Reply | Refusal>;
  /**
   * The reply to the last command, `name`, where its effect has none: computed from the present state, which
   * is that after its events. Asked for once, with the command's context.
   */
  reply(context: CallContext, name: string): Awaitable<Reply | Refusal>;
  /** The present state as JSON text. */
  snapshot(): Awaitable<string>;
  close(): void;
}

export interface GuestEndpoints {
  /**
   * Runs the handler of a route. Requests may overlap. Throws GuestFault.
   * `calls` serves the handler's imports and is used only until the answer.
   */
  handle(
    context: CallContext,
    request: EndpointRequest,
    calls: HostCalls,
  ): Awaitable<EndpointResponse | Refusal>;
}

/**
 * What a handler may reach while it runs: calls of entities, their events and the clock, and nothing else.
 *
 * A hosting may run the handler without letting it wait: it then uses `speculate` in place of `call`. When `speculate`
 * answers undefined, the hosting aborts the handler, calls `beginReplay`, and runs the handler again from its beginning
 * where it can wait and where its calls go to `call`. The replay gets the same results, and no call is made twice.
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
   * As `call`, for a handler that cannot wait. The result may be speculative: what the entity will answer unless its write
   * fails. Undefined: the handler would have to wait. The handler's answer may be discarded and the handler replayed even
   * after it has returned, when its speculative result was not confirmed. Where the method is absent, run the handler where
   * it can wait. Throws as `call` does.
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
   * Is called before the handler is run again from its beginning where it can wait. True: it has made calls before, so the
   * request must not be refused as if nothing was done.
   */
  beginReplay?(): boolean;
  /**
   * Present after `speculate` has answered undefined for a call that was sent to another shard. Resolves once its answer is
   * there; then run the handler again from its beginning where it cannot wait. Undefined: run it where it can wait. Rejects
   * when the request is cancelled.
   */
  remoteAnswer?(): Promise<void> | undefined;
  /** Why the request was cancelled; then each call throws this fault, and so ends the handler. */
  readonly cancelReason?: GuestFault | undefined;
  /** Acknowledged events of the current incarnation of an entity, after `afterSeq`, at most `limit`. */
  readEvents(
    entity: EntityRef,
    afterSeq: number,
    limit: number,
  ): Awaitable<readonly (JournalRecord & { readonly kind: 'event' })[]>;
}
