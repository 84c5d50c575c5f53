// Effect<R>: what a command wants to happen, all of it or nothing. Change<S, E>: one in the making.
// LaterReply: a reply that is computed from the state after the events.
import { toJson } from "./codec";
import { Refusal } from "./code";

export class StoredEvent {
  constructor(
    public manifest: string,
    public json: string,
  ) {}
}

/** Shared, hence never added to. */
const NO_EVENTS: StoredEvent[] = [];

/**
 * A reply that the runtime asks for once the events are applied. For each method that computes one the compiler
 * writes a class that extends this, with what the method is given beside the state.
 */
export class LaterReply {
  /** `method`: which one of the entity computes it; -1: it is the state. */
  constructor(public method: i32) {}
}

const STATE: i32 = -1;

/** What an effect is without the type of its reply. */
export class EffectBase {
  refusal: Refusal | null = null;
  events: StoredEvent[] = NO_EVENTS;
  deleteEntity: bool = false;
  /** Empty where there is a later one. */
  reply: string = "null";
  later: LaterReply | null = null;
}

export class Effect<R> extends EffectBase {
  static __svc_reply<R>(reply: R): Effect<R> {
    const effect = new Effect<R>();
    effect.reply = toJson<R>(reply);
    return effect;
  }

  static __svc_refused<R>(refusal: Refusal): Effect<R> {
    const effect = new Effect<R>();
    effect.refusal = refusal;
    return effect;
  }
}

/** Events to persist, and whether the entity is deleted after them. `thenReply` and its variants make it an effect. */
export class Change<S, E> {
  private events: StoredEvent[] = [];
  private deleteEntity: bool = false;

  /** One more event, persisted after those before. */
  thenPersist(event: E): this {
    this.events.push(new StoredEvent(changetype<E>(0).__svc_manifest(), toJson<E>(event)));
    return this;
  }

  /** The entity is deleted after its events; the same id starts again from the empty state. */
  thenDelete(): this {
    this.deleteEntity = true;
    return this;
  }

  /** The reply leaves once the events are on disk. It is encoded here and now. */
  thenReply<R>(reply: R): Effect<R> {
    return this.effect<R>(Effect.__svc_reply<R>(reply));
  }

  /** The reply is the state after the events. */
  thenReplyState(): Effect<S> {
    return this.__svc_later<S>(new LaterReply(STATE));
  }

  /**
   * The reply is what a method of the entity computes from the state after the events:
   * `thenReplyFrom(this.summary)`. What follows the method is handed to it after the state:
   * `thenReplyFrom(this.summary, input, context)`. The method leaves the state as it is.
   */
  // Declared for editors: the compiler turns each call into one of `__svc_later`.
  thenReplyFrom<A extends unknown[], R>(method: (state: S, ...values: A) => R, ...values: A): Effect<R> {
    unreachable();
  }

  __svc_later<R>(later: LaterReply): Effect<R> {
    const effect = new Effect<R>();
    effect.reply = "";
    effect.later = later;
    return this.effect<R>(effect);
  }

  private effect<R>(effect: Effect<R>): Effect<R> {
    // A copy: what is added to the change from here on is not part of the effect.
    effect.events = this.events.slice();
    effect.deleteEntity = this.deleteEntity;
    return effect;
  }
}
