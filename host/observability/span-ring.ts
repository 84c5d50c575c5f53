// SpanRing: the latest spans of a shard. Recording is on the path of every request: numbers go into columns, texts that
// are there anyhow are kept as they are, and a span is made of them when somebody asks. Invariants: the window's counts
// are those of the spans in the ring; nothing that is kept grows with what a caller or a module sends.
import type { EndedCall, EndedRequest, Recorder } from '../engine/needs/recorder.ts';
import type { HandlerPlaces } from '../model/handler-places.ts';
import { SPAN_OUTCOMES, type SpanOutcome } from '../model/span-outcome.ts';
import { readTraceParent } from '../model/trace-context.ts';
import { recordedFault } from './fault-record.ts';
import type { RecordedFault, RecordedSpan } from './recorded-span.ts';
import type { WindowCounts } from './window-counts.ts';

/** A text beyond this is a part of a longer one, perhaps, which would be kept alive by it. */
const PLAIN_UNITS = 200;
const ENTITY_ID_UNITS_MAX = 512;
const SAMPLED = 0x01;

export class SpanRing implements Recorder {
  readonly #places: HandlerPlaces;
  readonly #window: WindowCounts;
  readonly #shard: number;
  readonly #capacity: number;
  readonly #startMs: Float64Array;
  readonly #durationMs: Float64Array;
  readonly #fuel: Float64Array;
  readonly #events: Uint32Array;
  readonly #place: Uint32Array;
  readonly #status: Uint16Array;
  readonly #outcome: Uint8Array;
  readonly #entityIds: (string | undefined)[];
  readonly #ownTraces: (string | undefined)[];
  readonly #parentTraces: (string | undefined)[];
  readonly #faults: (RecordedFault | undefined)[];
  #count = 0;

  /** `capacity`: spans, at least one. */
  constructor(capacity: number, places: HandlerPlaces, window: WindowCounts, shard: number) {
    this.#places = places;
    this.#window = window;
    this.#shard = shard;
    this.#capacity = capacity;
    this.#startMs = new Float64Array(capacity);
    this.#durationMs = new Float64Array(capacity);
    this.#fuel = new Float64Array(capacity);
    this.#events = new Uint32Array(capacity);
    this.#place = new Uint32Array(capacity);
    this.#status = new Uint16Array(capacity);
    this.#outcome = new Uint8Array(capacity);
    const texts = () => Array.from<string | undefined>({ length: capacity });
    this.#entityIds = texts();
    this.#ownTraces = texts();
    this.#parentTraces = texts();
    this.#faults = Array.from<RecordedFault | undefined>({ length: capacity });
    window.begin(capacity);
  }

  /** How many spans were ever added. */
  get count(): number {
    return this.#count;
  }

  nowMs(): number {
    return performance.now();
  }

  called(call: EndedCall, endMs: number, outcome: SpanOutcome, failure: unknown): void {
    const at = this.#add(call, endMs, outcome);
    this.#entityIds[at] = keptId(call.entityId);
    this.#events[at] = call.eventsPersisted;
    this.#status[at] = 0;
    this.#faults[at] = failure === undefined ? undefined : recordedFault(failure, undefined);
  }

  served(request: EndedRequest, endMs: number, outcome: SpanOutcome, failure: unknown): void {
    const at = this.#add(request, endMs, outcome);
    this.#entityIds[at] = undefined;
    this.#events[at] = 0;
    this.#status[at] = request.status;
    this.#faults[at] = failure === undefined ? undefined : recordedFault(failure, request.errorId);
  }

  /** Those in the window with `number > after`, oldest first, at most `limit`. */
  after(after: number, limit: number): RecordedSpan[] {
    const spans: RecordedSpan[] = [];
    const first = Math.max(after, this.#count - this.#capacity);
    for (let number = first + 1; number <= this.#count && spans.length < limit; number++)
      spans.push(this.#span(number));
    return spans;
  }

  #add(
    { place, startMs, fuel, ownTrace, parentTrace }: EndedCall | EndedRequest,
    endMs: number,
    outcome: SpanOutcome,
  ): number {
    const at = this.#count % this.#capacity;
    const durationMs = endMs - startMs;
    if (this.#count >= this.#capacity)
      this.#window.remove(
        this.#place[at]!,
        this.#outcome[at]! as SpanOutcome,
        this.#durationMs[at]!,
      );
    this.#window.add(place, outcome, durationMs);
    this.#count++;
    this.#place[at] = place;
    this.#startMs[at] = startMs;
    this.#durationMs[at] = durationMs;
    this.#fuel[at] = fuel;
    this.#outcome[at] = outcome;
    this.#ownTraces[at] = ownTrace;
    this.#parentTraces[at] = parentTrace;
    return at;
  }

  #span(number: number): RecordedSpan {
    const at = (number - 1) % this.#capacity;
    const { kind, component, handler } = this.#places.handlers[this.#place[at]!]!;
    const own = this.#ownTraces[at];
    const parent = this.#parentTraces[at];
    const trace = own === undefined ? undefined : readTraceParent(own);
    return {
      number,
      shard: this.#shard,
      kind,
      component,
      handler,
      entityId: this.#entityIds[at],
      traceId: trace?.traceId ?? soleTraceId(this.#shard, number),
      spanId: trace?.parentId ?? soleSpanId(this.#shard, number),
      parentId: parent === undefined ? undefined : readTraceParent(parent)?.parentId,
      isSampled: trace === undefined || (trace.flags & SAMPLED) !== 0,
      startMs: performance.timeOrigin + this.#startMs[at]!,
      durationMs: this.#durationMs[at]!,
      outcome: SPAN_OUTCOMES[this.#outcome[at]!]!,
      fuel: this.#fuel[at]!,
      events: this.#events[at]!,
      status: kind === 'endpoint' ? this.#status[at]! : undefined,
      fault: this.#faults[at],
    };
  }
}

/** An id that is long may be a part of an address, and would keep all of it in memory. */
function keptId(id: string): string {
  if (id.length <= PLAIN_UNITS) return id;
  return Buffer.from(id.slice(0, ENTITY_ID_UNITS_MAX), 'utf16le').toString('utf16le');
}

/** Of a call whose caller has passed no trace on: a trace of its own, of which nobody else knows. */
function soleTraceId(shard: number, number: number): string {
  return `5${soleSpanId(shard, number).slice(1)}${'0'.repeat(15)}1`;
}

function soleSpanId(shard: number, number: number): string {
  return `5${shard.toString(16).padStart(3, '0')}${number.toString(16).padStart(12, '0')}`;
}
