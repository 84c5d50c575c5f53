// What the handlers of an entity are given beside state and input, and what a command answers: an Effect,
// which only the context of a command can make. Events, and a reply that is handed over, are encoded there and
// then, so that nothing that happens to them later is stored.
import type { RefusalCode } from '@svc/contract';
import { DELETE_ENTITY, NO_ACTIONS } from '../../model/call.ts';
import type { CallContext, Effect as StoredEffect, EntityAction } from '../../model/call.ts';
import type { StoredEvent } from '../../model/entity.ts';
import { atOnce } from './at-once.ts';
import type { Codec } from './codec.ts';
import { refuse, type RefusalDetails, type Refused } from './result.ts';
import { SeededRandom } from './seeded-random.ts';

/** As a handler may look at it: only `apply` changes a state. */
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
 * Of a query, and what the context of a command has as well. The same context gives the same result. Its
 * functions may be taken out of it.
 */
export interface QueryContext {
  readonly entityId: string;
  /** Milliseconds since 1970-01-01T00:00:00Z, recorded for this call. */
  readonly nowMs: number;
  /** 64 random bits, recorded for this call. */
  readonly seed: bigint;
  /** From 0 up to 1, made from the seed: to be used in the place of Math.random. */
  readonly random: () => number;
  /** Of the request: `traceparent`, `tracestate`. */
  readonly metadata: (name: string) => string | undefined;
  /** Says no. */
  readonly refuse: (
    message: string,
    code?: RefusalCode | 'OTHER',
    more?: RefusalDetails,
  ) => Refused;
}

export interface CommandContext<Event, Reply, State = never> extends QueryContext {
  /** An event happens. */
  readonly persist: (event: ReadonlyDeep<Event>) => Change<Event, Reply, State>;
  /** These events happen, in this order, all or none. */
  readonly persistAll: (events: readonly ReadonlyDeep<Event>[]) => Change<Event, Reply, State>;
  /** The entity is deleted; the same id starts again from the empty state. */
  readonly deleteEntity: () => Change<Event, Reply, State>;
  /** Nothing happens. */
  readonly reply: (...reply: ReplyArguments<Reply>) => Effect<Reply>;
}

/** A command without a reply says none. */
export type ReplyArguments<Reply> = [Reply] extends [null]
  ? readonly []
  : readonly [reply: ReadonlyDeep<Reply>];

/** `thenReplyState` takes nothing where the state is a reply of the command, and cannot be called elsewhere. */
export type StateArguments<State, Reply> = [ReadonlyDeep<State>] extends [ReadonlyDeep<Reply>]
  ? readonly []
  : readonly [mistake: 'the state is no reply of this command: use thenReplyFrom'];

/** Computes the text of a reply from the state after the events. */
export type LaterReply = (state: unknown) => string;

/** What a command wants to happen, all of it or nothing. Made by its context. */
export class Effect<Reply> {
  /** For the compiler only. */
  declare readonly replies: Reply;
  readonly #events: readonly StoredEvent[];
  readonly #actions: readonly EntityAction[];
  readonly #reply: string | LaterReply;

  constructor(
    events: readonly StoredEvent[],
    actions: readonly EntityAction[],
    reply: string | LaterReply,
  ) {
    this.#events = events;
    this.#actions = actions;
    this.#reply = reply;
  }

  get stored(): StoredEffect {
    return {
      kind: 'effect',
      events: this.#events,
      actions: this.#actions,
      reply: typeof this.#reply === 'string' ? this.#reply : undefined,
    };
  }

  /** Undefined where the reply is known. */
  get laterReply(): LaterReply | undefined {
    return typeof this.#reply === 'string' ? undefined : this.#reply;
  }
}

/** Events that a command wants to happen. `thenReply` and its variants make it an effect. */
export class Change<Event, Reply, State = never> {
  readonly #codecs: CommandCodecs;
  readonly #events: StoredEvent[] = [];
  #actions = NO_ACTIONS;

  constructor(codecs: CommandCodecs) {
    this.#codecs = codecs;
  }

  /** One more event. */
  thenPersist(event: ReadonlyDeep<Event>): this {
    const { manifest, event: codec } = this.#codecs;
    this.#events.push({ manifest, json: codec.encode(event, 'event') });
    return this;
  }

  /** The entity is deleted after the events. */
  thenDelete(): this {
    this.#actions = DELETE_ENTITY;
    return this;
  }

  /** What the caller gets once the events are on disk. */
  thenReply(...[reply]: ReplyArguments<Reply>): Effect<Reply> {
    return this.#effect(replyText(this.#codecs.reply, reply));
  }

  /** The caller gets the state after the events, once they are on disk. */
  thenReplyState(..._none: StateArguments<State, Reply>): Effect<Reply> {
    return this.#later((state) => state);
  }

  /**
   * The caller gets what `compute` makes of the state after the events, once they are on disk. It answers at
   * once, and leaves the state as it is.
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
    // What is added to the change later is no part of it: the engine has it by then.
    return new Effect([...this.#events], this.#actions, reply);
  }
}

export interface CommandCodecs {
  readonly manifest: string;
  readonly event: Codec;
  /** Undefined: the command has no reply. */
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

  constructor(entityId: string, context: CallContext, codecs: CommandCodecs) {
    super(entityId, context);
    this.#codecs = codecs;
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

  get reply(): Deciding['reply'] {
    return (reply) => new Effect([], NO_ACTIONS, replyText(this.#codecs.reply, reply));
  }

  #change(): Change<unknown, unknown, unknown> {
    return new Change(this.#codecs);
  }
}

/** JSON text; `null` of what has no reply. */
export function replyText(codec: Codec | undefined, reply: unknown): string {
  return codec === undefined ? 'null' : codec.encode(reply, 'reply');
}
