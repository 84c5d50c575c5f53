// SourceEvent: an event for the dispatch to the method of its source, in views and consumers. EventContext: the data of
// an event besides its value.
import { fromJson } from "./codec";
import { JsonReader, STORED_DEPTH_MAX } from "./json-reader";

/** The data of an event besides its value. */
export class EventContext {
  constructor(
    /** Id of the entity that the event belongs to. */
    public readonly entityId: string,
    /** Number of the event in the entity's history: 1, 2, 3 … */
    public readonly seq: u64,
    /** When it was recorded, in milliseconds since 1970-01-01T00:00:00Z. */
    public readonly timeMs: u64,
    /** Key of the row that the event is folded into; empty where there is none, as in consumers. */
    public readonly key: string,
  ) {}
}

export class SourceEvent {
  /** Why the event cannot be decoded; empty while there is no problem. */
  problem: string = "";

  constructor(
    /** Id of the component whose entity the event belongs to. */
    readonly component: string,
    readonly context: EventContext,
    private manifest: string,
    private json: string,
  ) {}

  get failed(): bool {
    return this.problem.length > 0;
  }

  value<E>(): E {
    const manifest = changetype<E>(0).__svc_manifest();
    if (this.manifest != manifest) {
      this.fail("its manifest is '" + this.manifest + "', this module stores '" + manifest + "'");
      return changetype<E>(0);
    }
    const reader = new JsonReader(this.json, STORED_DEPTH_MAX);
    const event = fromJson<E>(reader);
    if (reader.failed) this.fail(reader.problem("event"));
    return event;
  }

  private fail(problem: string): void {
    const context = this.context;
    this.problem =
      "event " + context.seq.toString() + " of entity '" + context.entityId + "' of component '" + this.component + "': " + problem;
  }
}
