// The contexts of an entity's handlers, and the result of a command: an Effect, which only the context of a
// command can create. Events, inputs of timers, and replies that are passed as values, are encoded immediately, so
// later changes of them are never stored.
import type { RefusalCode } from '@svc/contract';
import { DELETE_ENTITY, NO_ACTIONS } from '@svc/model/call';
import type { CallContext, Effect as StoredEffect, EntityAction } from '@svc/model/call';
import type { StoredEvent } from '@svc/model/entity';
import type { TimerChange } from '@svc/model/timer';
import { atOnce } from './at-once.ts';
import type { Codec } from './codec.ts';
import type { DeferredCall } from './deferred-call.ts';
import type { Due } from './due.ts';
import { refuse, type RefusalDetails, type Refused } from './result.ts';
import { SeededRandom } from './seeded-random.ts';
import { cancelTimer, setTimer, type TimerOptions } from './timer-change.ts';

/** A read-only view of a state: only `apply` changes a state. */
export type ReadonlyDeep<Value> = Value extends
  | string
  | number
  | boolean
  | bigint
  | symbol
  | null
  | undefined
  | Date
  | ((...args: never[]) => unknown)
  ? Value
  : { readonly [Key in keyof Value]: ReadonlyDeep<Value[Key]> };

/**
 * Context of a query, and the part that the context of a command shares. A handler that uses only the state, its input
 * and this context returns the same result if it is executed again. You can destructure the context's functions.
 */
export interface QueryContext {
  readonly entityId: string;
  /** Milliseconds since 1970-01-01T00:00:00Z, recorded for this call. */
  readonly nowMs: number;
  /** 64 random bits, recorded for this call. */
  readonly seed: bigint;
  /** Returns a number from 0 up to 1, derived from the seed. Use it instead of Math.random. */
  readonly random: () => number;
  /** Returns metadata of the request, such as `traceparent` and `tracestate`; undefined if there is none. */
  readonly metadata: (name: string) => string | undefined;
  /** Returns a refusal, with the code `BAD_REQUEST` if `code` is absent. Return the refusal to refuse the call. */
  readonly refuse: (
    message: string,
    code?: RefusalCode | 'OTHER',
    more?: RefusalDetails,
  ) => Refused;
}

/**
 * Context of a command. Its functions only create the handler's result: nothing is persisted, deleted, set or replied
 * unless the handler returns the effect. `Own`: the entity's own commands, for timers.
 */
export interface CommandContext<Event, Reply, State = never, Own = unknown> extends QueryContext {
  /** Persists an event. */
  readonly persist: (event: ReadonlyDeep<Event>) => Change<Event, Reply, State>;
  /** Persists these events in this order, all or none. */
  readonly persistAll: (events: readonly ReadonlyDeep<Event>[]) => Change<Event, Reply, State>;
  /** Deletes the entity; the same id starts again from the empty state. */
  readonly deleteEntity: () => Change<Event, Reply, State>;
  /** Sets a timer of this entity and persists nothing: see `Change.thenSetTimer`. */
  readonly setTimer: (
    name: string,
    due: Due,
    call: DeferredCall,
    options?: TimerOptions,
  ) => Change<Event, Reply, State>;
  /** Cancels a timer of this entity, if there is one of this name, and persists nothing. */
  readonly cancelTimer: (name: string) => Change<Event, Reply, State>;
  /** The commands of this entity, for its timers: `self.expire({ reason })`. `callOf` returns those of other entities. */
  readonly self: Own;
  /** Replies without persisting an event. */
  readonly reply: (...reply: ReplyArguments<Reply>) => Effect<Reply>;
}

/** Arguments of a reply; none for a command without a reply. */
export type ReplyArguments<Reply> = [Reply] extends [null]
  ? readonly []
  : readonly [reply: ReadonlyDeep<Reply>];

/** Makes `thenReplyState` callable only where the state is a valid reply of the command. */
export type StateArguments<State, Reply> = [ReadonlyDeep<State>] extends [ReadonlyDeep<Reply>]
  ? readonly []
  : readonly [mistake: 'the state is no reply of this command: use thenReplyFrom'];

/** Computes the text of a reply from the state after the events. */
export type LaterReply = (state: unknown) => string;

/** The parts of an effect besides its reply. */
interface Changes {
  readonly events: readonly StoredEvent[];
  readonly actions: readonly EntityAction[];
  readonly timers?: readonly TimerChange[] | undefined;
}

/** Result of a command: changes and a reply, executed completely or not at all. The context creates it. */
export class Effect<Reply> {
  /** Carries the reply's type for the compiler only. */
  declare readonly replies: Reply;
  readonly #changes: Changes;
  readonly #reply: string | LaterReply;

  constructor(changes: Changes, reply: string | LaterReply) {
    this.#changes = changes;
    this.#reply = reply;
  }

  get stored(): StoredEffect {
    return {
      kind: 'effect',
      ...this.#changes,
      reply: typeof this.#reply === 'string' ? this.#reply : undefined,
    };
  }

  /** Function that computes the reply from the state after the events; undefined if the reply is known already. */
  get laterReply(): LaterReply | undefined {
    return typeof this.#reply === 'string' ? undefined : this.#reply;
  }
}

/**
 * Events that a command persists, whether it deletes the entity, and changes of the entity's timers. `thenReply` and its
 * variants turn the change into an effect.
 */
export class Change<Event, Reply, State = never> {
  readonly #codecs: CommandCodecs;
  readonly #events: StoredEvent[] = [];
  #actions = NO_ACTIONS;
  #timers: TimerChange[] | undefined;

  constructor(codecs: CommandCodecs) {
    this.#codecs = codecs;
  }

  /** Adds another event. */
  thenPersist(event: ReadonlyDeep<Event>): this {
    const { manifest, event: codec } = this.#codecs;
    this.#events.push({ manifest, json: codec.encode(event, 'event') });
    return this;
  }

  /** Deletes the entity after the events. Its timers are cancelled, except those that this change sets. */
  thenDelete(): this {
    this.#actions = DELETE_ENTITY;
    return this;
  }

  /**
   * Sets a timer of this entity: `thenSetTimer('expire', Due.after(900_000), self.expire())`. It replaces the timer of
   * the same name. The runtime sends the command when the timer is due, and tries again if it fails.
   */
  thenSetTimer(name: string, due: Due, call: DeferredCall, options?: TimerOptions): this {
    (this.#timers ??= []).push(setTimer(name, due, call, options));
    return this;
  }

  /** Cancels a timer of this entity, if there is one of this name. */
  thenCancelTimer(name: string): this {
    (this.#timers ??= []).push(cancelTimer(name));
    return this;
  }

  /** Replies with this value once the events are on disk. */
  thenReply(...[reply]: ReplyArguments<Reply>): Effect<Reply> {
    return this.#effect(replyText(this.#codecs.reply, reply));
  }

  /** Replies with the state after the events, once they are on disk. */
  thenReplyState(..._none: StateArguments<State, Reply>): Effect<Reply> {
    return this.#later((state) => state);
  }

  /**
   * Replies with what `compute` returns for the state after the events, once they are on disk. `compute` is
   * synchronous and must not change the state.
   */
  thenReplyFrom(compute: (state: ReadonlyDeep<State>) => ReadonlyDeep<Reply>): Effect<Reply> {
    return this.#later(compute as (state: unknown) => unknown);
  }

  #later(compute: (state: unknown) => unknown): Effect<Reply> {
    const { reply } = this.#codecs;
    return this.#effect((state) =>
      replyText(reply, atOnce(compute(state), 'thenReplyFrom was given an async function')),
    );
  }

  #effect(reply: string | LaterReply): Effect<Reply> {
    // The effect copies the lists, so later additions to the change do not reach the engine.
    const changes = { events: [...this.#events], actions: this.#actions };
    const timers = this.#timers;
    return new Effect(timers === undefined ? changes : { ...changes, timers: [...timers] }, reply);
  }
}

export interface CommandCodecs {
  readonly manifest: string;
  readonly event: Codec;
  /** Undefined if the command has no reply. */
  readonly reply: Codec | undefined;
}

export class HandlerContext implements QueryContext {
  readonly entityId: string;
  readonly #context: CallContext;
  #random: SeededRandom | undefined;

  constructor(entityId: string, context: CallContext) {
    this.entityId = entityId;
    this.#context = context;
  }

  get nowMs(): number {
    return this.#context.nowMs;
  }

  get seed(): bigint {
    return this.#context.seed;
  }

  get random(): () => number {
    return () => {
      this.#random ??= new SeededRandom(this.#context.seed);
      return this.#random.next();
    };
  }

  get metadata(): QueryContext['metadata'] {
    return (name) => this.#context.metadata.find(([known]) => known === name)?.[1];
  }

  get refuse(): QueryContext['refuse'] {
    return refuse;
  }
}

type Deciding = CommandContext<unknown, unknown, unknown>;

export class DecidingContext extends HandlerContext implements Deciding {
  readonly #codecs: CommandCodecs;
  readonly #self: (entityId: string) => unknown;

  /** `self`: returns the entity's own commands for timers. */
  constructor(
    entityId: string,
    context: CallContext,
    codecs: CommandCodecs,
    self: (entityId: string) => unknown,
  ) {
    super(entityId, context);
    this.#codecs = codecs;
    this.#self = self;
  }

  get persist(): Deciding['persist'] {
    return (event) => this.#change().thenPersist(event);
  }

  get persistAll(): Deciding['persistAll'] {
    return (events) => {
      const change = this.#change();
      for (const event of events) change.thenPersist(event);
      return change;
    };
  }

  get deleteEntity(): Deciding['deleteEntity'] {
    return () => this.#change().thenDelete();
  }

  get setTimer(): Deciding['setTimer'] {
    return (...timer) => this.#change().thenSetTimer(...timer);
  }

  get cancelTimer(): Deciding['cancelTimer'] {
    return (name) => this.#change().thenCancelTimer(name);
  }

  get self(): Deciding['self'] {
    return this.#self(this.entityId);
  }

  get reply(): Deciding['reply'] {
    const changes = { events: [], actions: NO_ACTIONS };
    return (reply) => new Effect(changes, replyText(this.#codecs.reply, reply));
  }

  #change(): Change<unknown, unknown, unknown> {
    return new Change(this.#codecs);
  }
}

/** Encodes a reply as JSON text; `null` for a command without a reply. */
export function replyText(codec: Codec | undefined, reply: unknown): string {
  return codec === undefined ? 'null' : codec.encode(reply, 'reply');
}
