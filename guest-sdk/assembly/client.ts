// EntityClient: how a handler calls an entity. The compiler writes a class `<Entity>Client` with a
// method for each command and query; this is what those share.
import { Code, INTERNAL, Refusal, TIMED_OUT, UNAVAILABLE } from "./code";
import { fromJson } from "./codec";
import { host, journal, routing } from "./host";
import { JsonReader, STORED_DEPTH_MAX } from "./json-reader";
import { Reply } from "./reply";
import { Result } from "./result";

// The metadata of the request that is being served: it goes along with every call.
let metadataAt: usize = 0;
let metadataCount: i32 = 0;

export function callsCarry(at: usize, count: i32): void {
  metadataAt = at;
  metadataCount = count;
}

/** An event as the journal keeps it. */
export class RecordedEvent<E> {
  constructor(
    /** Place in the entity's history: 1, 2, 3 … */
    public seq: u64,
    /** When it was recorded, in milliseconds since 1970-01-01T00:00:00Z. */
    public timeMs: u64,
    public event: E,
  ) {}
}

export class EntityClient {
  protected __svc_key: string | null = null;

  constructor(
    private component: string,
    public readonly id: string,
  ) {}

  protected __svc_call<R>(name: string, input: string): Result<R> {
    const key = this.__svc_key;
    const keyText = key !== null ? key : "";
    const answer = host.answerAt;
    routing.call(
      changetype<usize>(this.component),
      this.component.length,
      changetype<usize>(this.id),
      this.id.length,
      changetype<usize>(name),
      name.length,
      changetype<usize>(input),
      input.length,
      metadataAt,
      metadataCount,
      key !== null ? 1 : 0,
      changetype<usize>(keyText),
      keyText.length,
      answer,
    );
    if (load<u8>(answer) != 0) return Result.__svc_refused<R>(callError(answer + 4));
    return new Reply<R>(host.textAt(answer + 4), name);
  }

  /** Acknowledged events of the entity's present life, oldest first; `limit`: 1 to 1,000. */
  protected __svc_events<E>(afterSeq: u64, limit: u32): Result<RecordedEvent<E>[]> {
    const answer = host.answerAt;
    journal.read(
      changetype<usize>(this.component),
      this.component.length,
      changetype<usize>(this.id),
      this.id.length,
      afterSeq,
      limit,
      answer,
    );
    if (load<u8>(answer) != 0)
      return Result.__svc_refused<RecordedEvent<E>[]>(Refusal.other(INTERNAL, host.textAt(answer + 4)));
    const at = load<usize>(answer + 4);
    const count = load<i32>(answer + 8);
    const events = new Array<RecordedEvent<E>>();
    for (let i = 0; i < count; ++i) {
      const recorded = at + (<usize>i << 5);
      const reader = new JsonReader(host.textAt(recorded + 24), STORED_DEPTH_MAX);
      const event = fromJson<E>(reader);
      const seq = load<u64>(recorded);
      if (reader.failed) {
        const message = "event " + seq.toString() + " does not decode: " + reader.problem("event");
        return Result.__svc_refused<RecordedEvent<E>[]>(Refusal.other(INTERNAL, message));
      }
      events.push(new RecordedEvent<E>(seq, load<u64>(recorded + 8), event));
    }
    return Result.__svc_of<RecordedEvent<E>[]>(events);
  }
}

/** A `call-error` of the WIT, as the refusal that a handler sees. */
function callError(at: usize): Refusal {
  const payload = at + 4;
  switch (load<u8>(at)) {
    case 0: {
      const code = load<u8>(payload);
      const refusal = new Refusal(<Code>code, host.textAt(payload + 12));
      if (code == <u8>Code.OTHER) refusal.otherCode = host.textAt(payload + 4);
      if (load<u8>(payload + 20) != 0) refusal.details = host.textAt(payload + 24);
      return refusal;
    }
    case 1:
      return new Refusal(Code.FORBIDDEN, host.textAt(payload));
    case 2:
      return Refusal.other(UNAVAILABLE, host.textAt(payload));
    case 3:
      return Refusal.other(TIMED_OUT, "the call did not answer in time");
    default:
      return Refusal.other(INTERNAL, host.textAt(payload));
  }
}
