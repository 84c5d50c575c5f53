// SpanRing records the latest spans of a shard. Recording is on the path of every request, so numbers are stored in
// rows, and a span object is created only when spans are read. Invariant: the memory of the ring is limited, whatever
// callers or modules send.
import { randomBytes } from 'node:crypto';
import type { EndedCall, EndedRequest, Recorder, SpanClock } from '../../engine/needs/recorder.ts';
import type { HandlerTable } from '@svc/model/handler-table';
import { SPAN_OK, SPAN_OUTCOMES, type SpanOutcome } from '@svc/model/span-outcome';
import { spanIdText, traceIdText } from '@svc/kit/trace-context';
import { recordedFault } from './fault-record.ts';
import { INVOCATION_KINDS, type InvocationTotals } from './invocation-totals.ts';
import type { RecordedFault, RecordedSpan } from './recorded-span.ts';
import type { KeptRow, SpanRows } from './span-rows.ts';
import { TraceStates } from './trace-states.ts';

/**
 * Ids up to this number of UTF-16 units are stored as they are. Such an id may be a slice that keeps its URL in memory,
 * whose length the HTTP server limits. A longer id is copied, so that the stored text does not keep a text of any
 * length in memory, such as the id that it was cut from.
 */
const PLAIN_UNITS = 200;
/** Maximum number of UTF-16 units of a stored id; a longer id is truncated to it. */
const ENTITY_ID_UNITS_MAX = 512;
/** Bit of a trace's flags: the caller has sampled the trace. */
const SAMPLED = 0x01;

const MONOTONIC: SpanClock = { nowMs: () => performance.now() };

type SpanTrace = Pick<RecordedSpan, 'traceId' | 'spanId' | 'parentId' | 'isSampled'>;

/** Handlers of the module, and the memory that a ring records into, which outlives the ring. */
export interface RingNumbers {
  readonly handlerTable: HandlerTable;
  readonly window: SpanRows;
  readonly totals: InvocationTotals;
}

interface RingOptions {
  readonly clock?: SpanClock | undefined;
  /** Returns a text of a failure without what nothing may print. Absent: the text as it is. */
  readonly shown?: ((text: string) => string) | undefined;
}

export class SpanRing implements Recorder {
  readonly #handlerTable: HandlerTable;
  readonly #rows: SpanRows;
  readonly #totals: InvocationTotals;
  /** Indexed by handler: the number of its kind. */
  readonly #kinds: Uint8Array;
  readonly #shard: number;
  readonly #clock: SpanClock;
  /** 24 random hexadecimal digits: generated trace ids begin with them, and generated span ids with the first 8. */
  readonly #base = randomBytes(12).toString('hex');
  /** Indexed by row: ids of entities, for calls. */
  readonly #entityIds: (string | undefined)[];
  /** Indexed by row: failures of spans that did not succeed. */
  readonly #faults: (RecordedFault | undefined)[];
  readonly #traceStates = new TraceStates();
  readonly #shown: (text: string) => string;

  constructor(
    { handlerTable, window, totals }: RingNumbers,
    shard: number,
    { clock = MONOTONIC, shown = (text) => text }: RingOptions = {},
  ) {
    const { capacity } = window;
    this.#handlerTable = handlerTable;
    this.#rows = window;
    this.#totals = totals;
    this.#kinds = Uint8Array.from(handlerTable.handlers, ({ kind }) =>
      INVOCATION_KINDS.indexOf(kind),
    );
    this.#shard = shard;
    this.#clock = clock;
    this.#shown = shown;
    this.#entityIds = Array.from<string | undefined>({ length: capacity });
    this.#faults = Array.from<RecordedFault | undefined>({ length: capacity });
    window.begin();
  }

  /** Number of spans that were added to this ring, which is the number of the last one. */
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

  /** Returns the spans in the window with `number > after`, oldest first, at most `limit`. */
  after(after: number, limit: number): RecordedSpan[] {
    const spans: RecordedSpan[] = [];
    const { added, capacity } = this.#rows;
    const first = Math.max(after, added - capacity);
    for (let number = first + 1; number <= added && spans.length < limit; number++)
      spans.push(this.#span(number));
    return spans;
  }

  /** Adds a row, and returns its index. `detail`: the number of records of a call, or the status of a request. */
  #add(
    ended: EndedCall | EndedRequest,
    endMs: number,
    outcome: SpanOutcome,
    detail: number,
  ): number {
    const durationMs = endMs - ended.startMs;
    this.#totals.add(this.#kinds[ended.handlerIndex]!, outcome, durationMs, ended.fuel);
    const at = this.#rows.add(ended, durationMs, outcome, detail);
    this.#traceStates.put(at, ended.traceState);
    return at;
  }

  #keepFault(at: number, failure: unknown, errorId: string | undefined): void {
    this.#faults[at] =
      failure === undefined ? undefined : recordedFault(failure, errorId, this.#shown);
  }

  #span(number: number): RecordedSpan {
    const at = (number - 1) % this.#rows.capacity;
    const row = this.#rows.at(at);
    const { kind, component, handler } = this.#handlerTable.handlers[row.handlerIndex]!;
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

  /**
   * Returns the span's trace. A span that was recorded without a trace gets a generated one of its own: that of a call
   * whose caller sent none, or that failed before its handler ran.
   */
  #traceOf(number: number, { trace, parentId }: KeptRow): SpanTrace {
    if (trace === undefined) {
      const digits = numberDigits(number);
      const [traceId, spanId] = [`${this.#base}${digits}`, `${this.#base.slice(0, 8)}${digits}`];
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

/** Returns the id in the form in which it is stored: above PLAIN_UNITS a copy of at most ENTITY_ID_UNITS_MAX units. */
function keptId(id: string): string {
  if (id.length <= PLAIN_UNITS) return id;
  return Buffer.from(id.slice(0, ENTITY_ID_UNITS_MAX), 'utf16le').toString('utf16le');
}

/**
 * Returns eight hexadecimal digits that are not all zero. Numbers begin with 1, and a ring holds fewer spans than
 * there are such texts.
 */
function numberDigits(number: number): string {
  return (((number - 1) % 0xffff_ffff) + 1).toString(16).padStart(8, '0');
}
