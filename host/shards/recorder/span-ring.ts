// SpanRing: the latest spans of a shard. Recording is on the path of every request: numbers go into rows, and a span is
// made of them when somebody asks. Invariant: nothing that is kept grows with what a caller or a module sends.
import { randomBytes } from 'node:crypto';
import type { EndedCall, EndedRequest, Recorder, SpanClock } from '../../engine/needs/recorder.ts';
import type { HandlerPlaces } from '../../model/handler-places.ts';
import { SPAN_OK, SPAN_OUTCOMES, type SpanOutcome } from '../../model/span-outcome.ts';
import { spanIdText, traceIdText } from '@svc/kit/trace-context';
import { recordedFault } from './fault-record.ts';
import { INVOCATION_KINDS, type InvocationTotals } from './invocation-totals.ts';
import type { RecordedFault, RecordedSpan } from './recorded-span.ts';
import type { KeptRow, SpanRows } from './span-rows.ts';
import { TraceStates } from './trace-states.ts';

/** A text beyond this is a part of a longer one, perhaps, which would be kept alive by it. */
const PLAIN_UNITS = 200;
const ENTITY_ID_UNITS_MAX = 512;
/** Of a trace's flags. */
const SAMPLED = 0x01;

const MONOTONIC: SpanClock = { nowMs: () => performance.now() };

type SpanTrace = Pick<RecordedSpan, 'traceId' | 'spanId' | 'parentId' | 'isSampled'>;

/** What a ring counts into, for all that it was ever told. */
export interface RingNumbers {
  readonly places: HandlerPlaces;
  readonly window: SpanRows;
  readonly totals: InvocationTotals;
}

export class SpanRing implements Recorder {
  readonly #places: HandlerPlaces;
  readonly #rows: SpanRows;
  readonly #totals: InvocationTotals;
  /** By place, the number of its kind. */
  readonly #kinds: Uint8Array;
  readonly #shard: number;
  readonly #clock: SpanClock;
  /** 24 hexadecimal digits, of ids that nobody has given. */
  readonly #sole = randomBytes(12).toString('hex');
  /** Of calls. */
  readonly #entityIds: (string | undefined)[];
  /** Of what did not go well. */
  readonly #faults: (RecordedFault | undefined)[];
  readonly #traceStates = new TraceStates();

  constructor(
    { places, window, totals }: RingNumbers,
    shard: number,
    clock: SpanClock = MONOTONIC,
  ) {
    const { capacity } = window;
    this.#places = places;
    this.#rows = window;
    this.#totals = totals;
    this.#kinds = Uint8Array.from(places.handlers, ({ kind }) => INVOCATION_KINDS.indexOf(kind));
    this.#shard = shard;
    this.#clock = clock;
    this.#entityIds = Array.from<string | undefined>({ length: capacity });
    this.#faults = Array.from<RecordedFault | undefined>({ length: capacity });
    window.begin();
  }

  /** How many spans were ever added: the number of the last one. */
  get count(): number {
    return this.#rows.added;
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  called(call: EndedCall, endMs: number, outcome: SpanOutcome, failure: unknown): void {
    const at = this.#add(call, endMs, outcome, call.eventsPersisted);
    this.#entityIds[at] = keptId(call.entityId);
    if (outcome !== SPAN_OK) this.#keepFault(at, failure, undefined);
  }

  served(request: EndedRequest, endMs: number, outcome: SpanOutcome, failure: unknown): void {
    const at = this.#add(request, endMs, outcome, request.status);
    if (outcome !== SPAN_OK) this.#keepFault(at, failure, request.errorId);
  }

  /** Those in the window with `number > after`, oldest first, at most `limit`. */
  after(after: number, limit: number): RecordedSpan[] {
    const spans: RecordedSpan[] = [];
    const { added, capacity } = this.#rows;
    const first = Math.max(after, added - capacity);
    for (let number = first + 1; number <= added && spans.length < limit; number++)
      spans.push(this.#span(number));
    return spans;
  }

  /** `detail`: of a call its events, of a request its status. */
  #add(
    ended: EndedCall | EndedRequest,
    endMs: number,
    outcome: SpanOutcome,
    detail: number,
  ): number {
    const durationMs = endMs - ended.startMs;
    this.#totals.add(this.#kinds[ended.place]!, outcome, durationMs, ended.fuel);
    const at = this.#rows.add(ended, durationMs, outcome, detail);
    this.#traceStates.put(at, ended.traceState);
    return at;
  }

  #keepFault(at: number, failure: unknown, errorId: string | undefined): void {
    this.#faults[at] = failure === undefined ? undefined : recordedFault(failure, errorId);
  }

  #span(number: number): RecordedSpan {
    const at = (number - 1) % this.#rows.capacity;
    const row = this.#rows.at(at);
    const { kind, component, handler } = this.#places.handlers[row.place]!;
    const isRequest = kind === 'endpoint';
    return {
      number,
      shard: this.#shard,
      kind,
      component,
      handler,
      entityId: isRequest ? undefined : this.#entityIds[at],
      ...this.#traceOf(number, row),
      traceState: this.#traceStates.at(at),
      startMs: performance.timeOrigin + row.startMs,
      durationMs: row.durationMs,
      outcome: SPAN_OUTCOMES[row.outcome]!,
      fuel: row.fuel,
      events: isRequest ? 0 : row.detail,
      status: isRequest ? row.detail : undefined,
      fault: row.outcome === SPAN_OK ? undefined : this.#faults[at],
    };
  }

  /** One whose caller has passed no trace on is a trace of its own, of which nobody else knows. */
  #traceOf(number: number, { trace, parentId }: KeptRow): SpanTrace {
    if (trace === undefined) {
      const digits = numberDigits(number);
      const [traceId, spanId] = [`${this.#sole}${digits}`, `${this.#sole.slice(0, 8)}${digits}`];
      return { traceId, spanId, parentId: undefined, isSampled: true };
    }
    return {
      traceId: traceIdText(trace.trace),
      spanId: spanIdText(trace.spanId),
      parentId: parentId === undefined ? undefined : spanIdText(parentId),
      isSampled: (trace.flags & SAMPLED) !== 0,
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
