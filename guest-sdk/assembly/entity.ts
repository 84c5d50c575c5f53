// EventSourcedEntity: the base class of the author's entities. LiveEntity: one entity with its state, as the runtime
// sees it. The compiler adds the methods that dispatch wire names (`__svc_command`, `__svc_query`) to the author's
// class.
import { Code, Refusal } from "./code";
import { fromJson, toJson } from "./codec";
import { Context } from "./context";
import { Change, Effect, EffectBase, LaterReply } from "./effect";
import { unseed } from "./environment";
import { host } from "./host";
import { JsonReader, STORED_DEPTH_MAX } from "./json-reader";
import { Result } from "./result";
import { DeferredCall, Due } from "./timer";

/** The part of an entity's class that does not depend on its types. */
export abstract class EntityComponent {
  abstract __svc_component(): string;
  abstract __svc_open(id: string, snapshot: string | null): LiveEntity;
}

/**
 * Decides on commands, and folds events into a state. The object itself has no state: one object of the class serves
 * every entity of the component.
 */
export abstract class EventSourcedEntity<S, E> extends EntityComponent {
  /** Returns the state of an entity that has no events. */
  abstract empty(entityId: string): S;
  /** Returns the state after an event; it may change the given state and return it. It decides nothing. */
  abstract apply(state: S, event: E): S;

  /** Starts a change that persists an event; add the reply: `return this.persist(event).thenReply(value)`. */
  protected persist(event: E): Change<S, E> {
    return new Change<S, E>().thenPersist(event);
  }

  /** Starts a change that persists events in this order, all of them or none. */
  protected persistAll(events: E[]): Change<S, E> {
    const change = new Change<S, E>();
    for (let i = 0; i < events.length; ++i) change.thenPersist(events[i]);
    return change;
  }

  /** Starts a change that deletes the entity without a last event. */
  protected deleteEntity(): Change<S, E> {
    return new Change<S, E>().thenDelete();
  }

  /**
   * Starts a change that sets a timer and persists nothing. `attempts`: the number of attempts of a firing before the
   * timer is dead; 0: as the settings say.
   */
  protected setTimer(name: string, due: Due, call: DeferredCall, attempts: u32 = 0): Change<S, E> {
    return new Change<S, E>().thenSetTimer(name, due, call, attempts);
  }

  /** Starts a change that cancels a timer and persists nothing. */
  protected cancelTimer(name: string): Change<S, E> {
    return new Change<S, E>().thenCancelTimer(name);
  }

  /** Replies, and changes nothing. */
  protected reply<R>(reply: R): Effect<R> {
    return Effect.__svc_reply<R>(reply);
  }

  /**
   * Refuses the command, and changes nothing. `details`: JSON text for programs. `otherCode`: the module's own code,
   * with `Code.OTHER`.
   */
  protected refuse<R>(
    message: string,
    code: Code = Code.BAD_REQUEST,
    details: string | null = null,
    otherCode: string = "",
  ): Effect<R> {
    const refusal = new Refusal(code, message);
    refusal.details = details;
    refusal.otherCode = otherCode;
    return Effect.__svc_refused<R>(refusal);
  }

  abstract __svc_command(state: S, call: EntityCall): EffectBase;
  abstract __svc_query(state: S, call: EntityCall): Result<string>;
  abstract __svc_reply(state: S, later: LaterReply): string;

  __svc_open(id: string, snapshot: string | null): LiveEntity {
    unseed();
    if (snapshot === null) return new LiveEntityOf<S, E>(this, id, this.empty(id));
    const reader = new JsonReader(snapshot, STORED_DEPTH_MAX);
    const state = fromJson<S>(reader);
    if (reader.failed) throw new Error("a snapshot does not decode: " + reader.problem("state"));
    return new LiveEntityOf<S, E>(this, id, state);
  }
}

/** A command or a query with its arguments, for the dispatch to its method. */
export class EntityCall {
  /** Set when the name is unknown or the input cannot be decoded; no method is then called. */
  refusal: Refusal | null = null;

  constructor(
    public name: string,
    public context: Context,
    private json: string,
  ) {}

  input<T>(): T {
    const reader = new JsonReader(this.json);
    const value = fromJson<T>(reader);
    if (reader.failed) this.refusal = new Refusal(Code.BAD_REQUEST, reader.problem("input"));
    return value;
  }

  get failed(): bool {
    return this.refusal !== null;
  }

  commandRefused(): EffectBase {
    const effect = new EffectBase();
    effect.refusal = this.refusal;
    return effect;
  }

  unknownCommand(component: string): EffectBase {
    this.refusal = new Refusal(
      Code.NOT_FOUND,
      "component '" + component + "' has no command '" + this.name + "'",
    );
    return this.commandRefused();
  }

  queryRefused(): Result<string> {
    return Result.__svc_refused<string>(this.refusal!);
  }

  unknownQuery(component: string): Result<string> {
    this.refusal = new Refusal(
      Code.NOT_FOUND,
      "component '" + component + "' has no query '" + this.name + "'",
    );
    return this.queryRefused();
  }

  queryReply<T>(value: T): Result<string> {
    if (isReference<T>() && !isString<T>() && !isNullable<T>()) {
      if (isDefined(value.__svc_reply)) return value.__svc_reply();
    }
    return Result.__svc_of<string>(toJson<T>(value));
  }
}

export abstract class LiveEntity {
  /** Folds a list<stored-event>. Returns a problem of decoding, or "". */
  abstract apply(at: usize, count: i32): string;
  abstract command(nowMs: u64, metadataAt: usize, metadataCount: i32, name: string, input: string): EffectBase;
  abstract query(nowMs: u64, metadataAt: usize, metadataCount: i32, name: string, input: string): Result<string>;
  abstract snapshot(): string;
}

function eventPosition(index: i32, count: i32): string {
  return "event " + (index + 1).toString() + " of " + count.toString();
}

class LiveEntityOf<S, E> extends LiveEntity {
  /** The reply of the last command that the runtime has not asked for yet, with the command's name and context. */
  private later: LaterReply | null = null;
  private laterName: string = "";
  private laterContext: Context | null = null;

  constructor(
    private entity: EventSourcedEntity<S, E>,
    private id: string,
    private state: S,
  ) {
    super();
  }

  apply(at: usize, count: i32): string {
    const manifest = changetype<E>(0).__svc_manifest();
    for (let i = 0; i < count; ++i) {
      // The `apply` of an earlier event may have seeded `Math.random()`; the state must not depend on the batch size.
      unseed();
      const stored = at + (<usize>i << 4);
      const name = host.textAt(stored);
      if (name != manifest)
        return (
          eventPosition(i, count) + ": its manifest is '" + name + "', this module stores '" + manifest +
          "': if that class was renamed, write @data(\"" + name + "\") before it"
        );
      const reader = new JsonReader(host.textAt(stored + 8), STORED_DEPTH_MAX);
      const event = fromJson<E>(reader);
      if (reader.failed) return eventPosition(i, count) + ": " + reader.problem("event");
      this.state = this.entity.apply(this.state, event);
    }
    return "";
  }

  command(nowMs: u64, metadataAt: usize, metadataCount: i32, name: string, input: string): EffectBase {
    const context = new Context(this.id, nowMs, metadataAt, metadataCount);
    const effect = this.entity.__svc_command(this.state, new EntityCall(name, context, input));
    const later = effect.later;
    this.later = later;
    if (later !== null) {
      this.laterName = name;
      this.laterContext = context;
    }
    return effect;
  }

  query(nowMs: u64, metadataAt: usize, metadataCount: i32, name: string, input: string): Result<string> {
    const later = this.later;
    if (later !== null && name == this.laterName) {
      // The runtime passes the same metadata again, because that of the command has been freed.
      this.laterContext!.__svc_moved(metadataAt, metadataCount);
      this.later = null;
      this.laterContext = null;
      return Result.__svc_of<string>(later.method < 0 ? toJson<S>(this.state) : this.entity.__svc_reply(this.state, later));
    }
    const context = new Context(this.id, nowMs, metadataAt, metadataCount);
    return this.entity.__svc_query(this.state, new EntityCall(name, context, input));
  }

  snapshot(): string {
    return toJson<S>(this.state);
  }
}
