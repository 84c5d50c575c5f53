// Effect<R>: what a command wants to happen, all of it or nothing. Change<E>: one in the making.
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

/** What an effect is without the type of its reply. */
export class EffectBase {
  refusal: Refusal | null = null;
  events: StoredEvent[] = NO_EVENTS;
  deleteEntity: bool = false;
  reply: string = "null";
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

/** Events to persist, and whether the entity is deleted after them. `thenReply` makes it an effect. */
export class Change<E> {
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
    const effect = Effect.__svc_reply<R>(reply);
    effect.events = this.events;
    effect.deleteEntity = this.deleteEntity;
    return effect;
  }
}
