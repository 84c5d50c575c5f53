// SpanRing: the latest spans of a shard. Recording is on the path of every request: numbers go into columns, ids of
// traces among them, and a span is made of them when somebody asks. Invariant: nothing that
// is kept grows with what a caller or a module sends.
import { randomBytes } from 'node:crypto';
import type { EndedCall, EndedRequest, Recorder, SpanClock } from '../engine/needs/recorder.ts';
import type { HandlerPlaces } from '../model/handler-places.ts';
import { SPAN_OK, SPAN_OUTCOMES, type SpanOutcome } from '../model/span-outcome.ts';
import { spanIdText, type TraceParent, traceIdText } from '../model/trace-context.ts';
import { recordedFault } from './fault-record.ts';
import { INVOCATION_KINDS, type InvocationTotals } from './invocation-totals.ts';
import type { RecordedFault, RecordedSpan } from './recorded-span.ts';
import type { WindowColumns } from './window-columns.ts';

/** A text beyond this is a part of a longer one, perhaps, which would be kept alive by it. */
const PLAIN_UNITS = 200;
const ENTITY_ID_UNITS_MAX = 512;
/** Of a trace's flags: what they are where there is none, and that it is sampled. */
const UNTRACED = 0xff;
const SAMPLED = 0x01;
/** Of a span: both halves of its trace's id, its own, and its parent's, which is 0 where there is none. */
const IDS = 4;

type SpanTrace = Pick<RecordedSpan, 'traceId' | 'spanId' | 'parentId' | 'isSampled'>;

/** What a ring counts into, for all that it was ever told. */
export interface RingNumbers {
  readonly places: HandlerPlaces;
  readonly window: WindowColumns;
  readonly totals: InvocationTotals;
}

export class SpanRing implements Recorder {
  readonly #places: HandlerPlaces;
  readonly #window: WindowColumns;
  readonly #totals: InvocationTotals;
  /** By place, the number of its kind. */
  readonly #kinds: Uint8Array;
  readonly #shard: number;
  readonly #clock: SpanClock;
  /** 24 hexadecimal digits, of ids that nobody has given. */
  readonly #sole = randomBytes(12).toString('hex');
  readonly #startMs: Float64Array;
  readonly #fuel: Float64Array;
  /** Of a call its events, of a request its status. */
  readonly #details: Uint32Array;
  /** Of calls. */
  readonly #entityIds: (string | undefined)[];
  readonly #flags: Uint8Array;
  readonly #ids: BigUint64Array;
  /** Of what did not go well. */
  readonly #faults: (RecordedFault | undefined)[];

  constructor({ places, window, totals }: RingNumbers, shard: number, clock: SpanClock) {
    const { capacity } = window;
    this.#clock = clock;
    this.#places = places;
    this.#window = window;
    this.#totals = totals;
    this.#kinds = Uint8Array.from(places.handlers, ({ kind }) => INVOCATION_KINDS.indexOf(kind));
    this.#shard = shard;
    this.#startMs = new Float64Array(capacity);
    this.#fuel = new Float64Array(capacity);
    this.#details = new Uint32Array(capacity);
    this.#flags = new Uint8Array(capacity);
    this.#ids = new BigUint64Array(capacity * IDS);
    this.#entityIds = Array.from<string | undefined>({ length: capacity });
    this.#faults = Array.from<RecordedFault | undefined>({ length: capacity });
    window.begin();
  }

  /** How many spans were ever added: the number of the last one. */
  get count(): number {
    return this.#window.added;
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  beginMs(): number {
    return this.#clock.beginMs();
  }

  called(call: EndedCall, endMs: number, outcome: SpanOutcome, failure: unknown): void {
    const at = this.#add(call, endMs, outcome);
    this.#entityIds[at] = keptId(call.entityId);
    this.#details[at] = call.eventsPersisted;
    if (outcome !== SPAN_OK) this.#keepFault(at, failure, undefined);
  }

  served(request: EndedRequest, endMs: number, outcome: SpanOutcome, failure: unknown): void {
    const at = this.#add(request, endMs, outcome);
    this.#details[at] = request.status;
    if (outcome !== SPAN_OK) this.#keepFault(at, failure, request.errorId);
  }

  /** Those in the window with `number > after`, oldest first, at most `limit`. */
  after(after: number, limit: number): RecordedSpan[] {
    const spans: RecordedSpan[] = [];
    const { added, capacity } = this.#window;
    const first = Math.max(after, added - capacity);
    for (let number = first + 1; number <= added && spans.length < limit; number++)
      spans.push(this.#span(number));
    return spans;
  }

  #add(
    { place, startMs, fuel, trace, parentId }: EndedCall | EndedRequest,
    endMs: number,
    outcome: SpanOutcome,
  ): number {
    const durationMs = endMs - startMs;
    const at = this.#window.add(place, outcome, durationMs);
    this.#totals.add(this.#kinds[place]!, outcome, durationMs, fuel);
    this.#startMs[at] = startMs;
    this.#fuel[at] = fuel;
    this.#keepTrace(at, trace, parentId);
    return at;
  }

  #keepFault(at: number, failure: unknown, errorId: string | undefined): void {
    this.#faults[at] = failure === undefined ? undefined : recordedFault(failure, errorId);
  }

  #keepTrace(at: number, own: TraceParent | undefined, parentId = 0n): void {
    this.#flags[at] = own === undefined ? UNTRACED : own.flags;
    if (own === undefined) return;
    const ids = at * IDS;
    this.#ids[ids] = own.trace.high;
    this.#ids[ids + 1] = own.trace.low;
    this.#ids[ids + 2] = own.spanId;
    this.#ids[ids + 3] = parentId;
  }

  /** One whose caller has passed no trace on is a trace of its own, of which nobody else knows. */
  #traceOf(number: number, at: number): SpanTrace {
    const flags = this.#flags[at]!;
    if (flags === UNTRACED) {
      const digits = numberDigits(number);
      const [traceId, spanId] = [`${this.#sole}${digits}`, `${this.#sole.slice(0, 8)}${digits}`];
      return { traceId, spanId, parentId: undefined, isSampled: true };
    }
    const [high, low, spanId, parentId] = this.#ids.subarray(at * IDS, (at + 1) * IDS);
    return {
      traceId: traceIdText({ high: high!, low: low! }),
      spanId: spanIdText(spanId!),
      parentId: parentId === 0n ? undefined : spanIdText(parentId!),
      isSampled: (flags & SAMPLED) !== 0,
    };
  }

  #span(number: number): RecordedSpan {
    const window = this.#window;
    const at = (number - 1) % window.capacity;
    const { kind, component, handler } = this.#places.handlers[window.placeAt(at)]!;
    const outcome = window.outcomeAt(at);
    const isRequest = kind === 'endpoint';
    const details = this.#details[at]!;
    return {
      number,
      shard: this.#shard,
      kind,
      component,
      handler,
      entityId: isRequest ? undefined : this.#entityIds[at],
      ...this.#traceOf(number, at),
      startMs: performance.timeOrigin + this.#startMs[at]!,
      durationMs: window.durationMsAt(at),
      outcome: SPAN_OUTCOMES[outcome]!,
      fuel: this.#fuel[at]!,
      events: isRequest ? 0 : details,
      status: isRequest ? details : undefined,
      fault: outcome === SPAN_OK ? undefined : this.#faults[at],
    };
  }
}

/** An id that is long may be a part of an address, and would keep all of it in memory. */
function keptId(id: string): string {
  if (id.length <= PLAIN_UNITS) return id;
  return Buffer.from(id.slice(0, ENTITY_ID_UNITS_MAX), 'utf16le').toString('utf16le');
}

/** Eight hexadecimal digits, never all zero: numbers begin with 1, and a ring holds fewer than these can tell apart. */
function numberDigits(number: number): string {
  return (((number - 1) % 0xffff_ffff) + 1).toString(16).padStart(8, '0');
}
