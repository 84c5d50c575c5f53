// Effect<R>: the result of a command, which is stored completely or not at all. Change<S, E>: builds an effect.
// LaterReply: a reply that is computed from the state after the events.
import { toJson } from "./codec";
import { Refusal } from "./code";
import { DeferredCall, Due, SetTimer, TimerChange } from "./timer";

export class StoredEvent {
  constructor(
    public manifest: string,
    public json: string,
  ) {}
}

/** Initial events of every effect. The list is shared, so it is never changed. */
const NO_EVENTS: StoredEvent[] = [];

/**
 * A reply that the runtime asks for after it has applied the events. For each method that computes such a reply, the
 * compiler writes a subclass with the method's arguments besides the state.
 */
export class LaterReply {
  /** `method`: index among the methods that the entity passes to `thenReplyFrom`; -1: the reply is the state. */
  constructor(public method: i32) {}
}

const STATE: i32 = -1;

/** The members of an effect that do not depend on the type of its reply. */
export class EffectBase {
  refusal: Refusal | null = null;
  events: StoredEvent[] = NO_EVENTS;
  deleteEntity: bool = false;
  /** The last change of the entity's timers, which links to the earlier ones; null: none. */
  timers: TimerChange | null = null;
  /** JSON text of the reply; empty when there is a `LaterReply`. */
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

/**
 * Events to persist, whether to delete the entity after them, and changes of its timers. `thenReply` and its variants
 * create the effect.
 */
export class Change<S, E> {
  private events: StoredEvent[] = [];
  private deleteEntity: bool = false;
  private timers: TimerChange | null = null;

  /** Adds an event, which is persisted after the earlier ones. */
  thenPersist(event: E): this {
    this.events.push(new StoredEvent(changetype<E>(0).__svc_manifest(), toJson<E>(event)));
    return this;
  }

  /**
   * Deletes the entity after its events; the same id starts again from the empty state. Its timers are cancelled, except
   * those that this change sets.
   */
  thenDelete(): this {
    this.deleteEntity = true;
    return this;
  }

  /**
   * Sets a timer of this entity, which replaces the one with the same name. `attempts`: the number of attempts of a
   * firing before the timer is dead; 0: as the settings say.
   */
  thenSetTimer(name: string, due: Due, call: DeferredCall, attempts: u32 = 0): this {
    this.timers = new SetTimer(this.timers, name, due, call, attempts);
    return this;
  }

  /** Cancels a timer of this entity, if there is one with this name. */
  thenCancelTimer(name: string): this {
    this.timers = new TimerChange(this.timers, name);
    return this;
  }

  /** Replies with a value, once the events are on disk. The value is encoded immediately. */
  thenReply<R>(reply: R): Effect<R> {
    return this.effect<R>(Effect.__svc_reply<R>(reply));
  }

  /** Replies with the state after the events. */
  thenReplyState(): Effect<S> {
    return this.__svc_later<S>(new LaterReply(STATE));
  }

  /**
   * Replies with the result of a method of the entity, computed from the state after the events:
   * `thenReplyFrom(this.summary)`. Further values become arguments of the method, after the state:
   * `thenReplyFrom(this.summary, input, context)`. The method must not change the state.
   */
  // Declared for editors: the compiler replaces each call by a call of `__svc_later`.
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
    // A copy: later additions to the change do not belong to this effect.
    effect.events = this.events.slice();
    effect.deleteEntity = this.deleteEntity;
    effect.timers = this.timers;
    return effect;
  }
}
