// EntityClient: sends a handler's calls to an entity. The compiler writes a class `<Entity>Client` with a method for
// each command and query; EntityClient is their common part.
import { Code, INTERNAL, Refusal, TIMED_OUT, UNAVAILABLE } from "./code";
import { clone } from "./clone";
import { blank, fromJson, read, write } from "./codec";
import { host, journal, routing } from "./host";
import { JsonReader, STORED_DEPTH_MAX } from "./json-reader";
import { JsonWriter } from "./json-writer";
import { Reply } from "./reply";
import { Result } from "./result";

// The metadata of the current request, which is sent with every call.
let metadataAt: usize = 0;
let metadataCount: i32 = 0;

export function callsCarry(at: usize, count: i32): void {
  metadataAt = at;
  metadataCount = count;
}

/** An event as the journal stores it; in JSON `{"seq":1,"timeMs":1750000000000,"event":{…}}`. */
export class RecordedEvent<E> {
  constructor(
    /** Number of the event in the entity's history: 1, 2, 3 … A deletion also takes a number. */
    public seq: u64,
    /** Time at which it was recorded, in milliseconds since 1970-01-01T00:00:00Z. */
    public timeMs: u64,
    public event: E,
  ) {}

  __svc_encode(to: JsonWriter): void {
    to.raw('{"seq":');
    to.integer<u64>(this.seq);
    to.raw(',"timeMs":');
    to.integer<u64>(this.timeMs);
    to.raw(',"event":');
    write<E>(to, this.event);
    to.raw("}");
  }

  __svc_decode(reader: JsonReader): void {
    let seen = 0;
    let more = reader.beginObject();
    while (more) {
      const bit = reader.keyIs("seq") ? 1 : reader.keyIs("timeMs") ? 2 : reader.keyIs("event") ? 4 : 0;
      const name = MEMBERS[bit >> 1];
      if ((seen & bit) != 0) return reader.twice(name);
      seen |= bit;
      if (bit == 1) this.seq = reader.readBigInteger<u64>();
      else if (bit == 2) this.timeMs = reader.readBigInteger<u64>();
      else if (bit == 4) this.event = read<E>(reader);
      else reader.skipValue();
      if (reader.failed) {
        if (bit != 0) reader.within(name);
        return;
      }
      more = reader.nextKey();
    }
    if (reader.failed) return;
    for (let at = 0; at < 3; ++at) if ((seen & (1 << at)) == 0) return reader.missing(MEMBERS[at]);
  }

  __svc_clone(): RecordedEvent<E> {
    const copy = blank<RecordedEvent<E>>();
    copy.seq = this.seq;
    copy.timeMs = this.timeMs;
    copy.event = clone<E>(this.event);
    return copy;
  }
}

/** Members of a RecordedEvent. A decoder notes the member at index i in bit i. */
const MEMBERS: StaticArray<string> = ["seq", "timeMs", "event"];

export class EntityClient {
  protected __svc_key: string | null = null;

  constructor(
    private component: string,
    public readonly id: string,
  ) {}

  __svc_component(): string {
    return this.component;
  }

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

  /** Returns the acknowledged events since the entity's last deletion, oldest first; `limit`: 1 to 1,000. */
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

/** Converts a `call-error` of the WIT to the refusal that a handler receives. */
export function callError(at: usize): Refusal {
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
