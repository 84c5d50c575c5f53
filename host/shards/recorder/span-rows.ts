// SpanRows: the numbers of the spans that a shard keeps, a row each. A request has long left the processor's cache when the
// next one is recorded: what lies together comes back at once, and columns would cost several times as much. In shared
// memory: the main thread counts what is in the window when it is asked, also while the shard is kept busy, and no
// request pays for a count. Invariant: one thread adds, and what it adds is in the window at once.
import type { EndedInvocation } from '../../engine/needs/recorder.ts';
import { SPAN_OUTCOMES, type SpanOutcome } from '../../model/span-outcome.ts';

/** Of a row, in doubles and words of 64 bits, which is a line of the cache; before the first one is the header. */
const ROW = 8;
const DURATION_MS = 0;
const START_MS = 1;
const FUEL = 2;
const TRACE_HIGH = 4;
const TRACE_LOW = 5;
const SPAN_ID = 6;
/** 0: none. */
const PARENT_ID = 7;
/** In words of 32 bits. */
const HEAD = 6;
const DETAIL = 7;

/**
 * Of the header: spans since the process started, how many of them there were when the present thread began, and what
 * the clock of that thread counts from, in milliseconds since 1970.
 */
const RECORDED = 0;
const BEGAN_AT = 1;
const ORIGIN_MS = 2;

/**
 * A head is place, outcome and a trace's flags in one number, so that whoever reads meanwhile sees those of one span.
 * Flags are as model/trace-context.ts passes them on, less than UNTRACED.
 */
const FLAGS = 8;
const UNTRACED = FLAGS - 1;
const OUTCOMES = SPAN_OUTCOMES.length;
const NS_PER_MS = 1e6;
const NS_PER_S = 1e9;

/** What a row keeps of an invocation: it has no room for a text. */
export type RowInvocation = Omit<EndedInvocation, 'traceState'>;

export interface KeptRow extends RowInvocation {
  readonly outcome: SpanOutcome;
  readonly durationMs: number;
  readonly detail: number;
}

/** Of a handler, what is in the window. */
export interface WindowRow {
  /** Of the handler (model/handler-places.ts). */
  readonly place: number;
  /** By outcome, in the order of SPAN_OUTCOMES. */
  readonly counts: readonly number[];
  readonly seconds: number;
}

export class SpanRows {
  /** Spans that are kept at most. */
  readonly capacity: number;
  /** For the other thread. */
  readonly shared: SharedArrayBuffer;
  readonly #handlers: number;
  readonly #doubles: Float64Array;
  readonly #ids: BigUint64Array;
  readonly #words: Uint32Array;
  /** Where the next one goes. */
  #next = 0;

  /** `handlers`: how many the module has. `capacity`: at least one. `shared`: what the other thread's was made with. */
  constructor(handlers: number, capacity: number, shared?: SharedArrayBuffer) {
    this.capacity = capacity;
    this.#handlers = handlers;
    const bytes = (1 + capacity) * ROW * Float64Array.BYTES_PER_ELEMENT;
    this.shared = shared ?? new SharedArrayBuffer(bytes);
    this.#doubles = new Float64Array(this.shared);
    this.#ids = new BigUint64Array(this.shared);
    this.#words = new Uint32Array(this.shared);
  }

  /** The window is empty: what a thread before had kept is gone. */
  begin(): void {
    this.#doubles[BEGAN_AT] = this.recorded;
    this.#doubles[ORIGIN_MS] = performance.timeOrigin;
    this.#next = 0;
  }

  /** Takes the place of `before`, whose spans are in no window any more. Nothing was added here yet. */
  goOnFrom(before: SpanRows): void {
    this.#doubles[RECORDED] = before.recorded;
    this.#doubles[BEGAN_AT] = before.recorded;
  }

  /** `detail`: 32 bits of whoever adds it. Says where it is kept: where the one was that leaves the window for it. */
  add(span: RowInvocation, durationMs: number, outcome: SpanOutcome, detail: number): number {
    const at = this.#next;
    this.#next = at + 1 === this.capacity ? 0 : at + 1;
    const row = (at + 1) * ROW;
    const { place, trace } = span;
    this.#doubles[row + DURATION_MS] = durationMs;
    this.#doubles[row + START_MS] = span.startMs;
    this.#doubles[row + FUEL] = span.fuel;
    let flags = UNTRACED;
    if (trace !== undefined) {
      ({ flags } = trace);
      this.#ids[row + TRACE_HIGH] = trace.trace.high;
      this.#ids[row + TRACE_LOW] = trace.trace.low;
      this.#ids[row + SPAN_ID] = trace.spanId;
      this.#ids[row + PARENT_ID] = span.parentId ?? 0n;
    }
    this.#words[2 * row + HEAD] = headOf(place, outcome, flags);
    this.#words[2 * row + DETAIL] = detail;
    this.#doubles[RECORDED]! += 1;
    return at;
  }

  /** What is kept there. */
  at(at: number): KeptRow {
    const row = (at + 1) * ROW;
    const head = this.#words[2 * row + HEAD]!;
    const flags = flagsOf(head);
    const isTraced = flags !== UNTRACED;
    const [high, low, spanId, parentId] = this.#ids.subarray(row + TRACE_HIGH, row + ROW);
    return {
      place: placeOf(head),
      outcome: outcomeOf(head),
      startMs: this.#doubles[row + START_MS]!,
      durationMs: this.#doubles[row + DURATION_MS]!,
      fuel: this.#doubles[row + FUEL]!,
      detail: this.#words[2 * row + DETAIL]!,
      trace: isTraced ? { trace: { high: high!, low: low! }, spanId: spanId!, flags } : undefined,
      parentId: isTraced && parentId !== 0n ? parentId : undefined,
    };
  }

  /** Since the process started. */
  get recorded(): number {
    return this.#doubles[RECORDED]!;
  }

  /** By the present thread. */
  get added(): number {
    return this.#doubles[RECORDED]! - this.#doubles[BEGAN_AT]!;
  }

  /** Spans that are kept now. */
  get kept(): number {
    return Math.min(this.added, this.capacity);
  }

  /** When a span ended, in milliseconds since 1970. `age`: 0 is the newest. */
  endMs(age: number): number {
    const row = (((this.added - 1 - age) % this.capacity) + 1) * ROW;
    return (
      this.#doubles[ORIGIN_MS]! + this.#doubles[row + START_MS]! + this.#doubles[row + DURATION_MS]!
    );
  }

  /** Of each handler, what is among the newest spans; all that are kept unless `newest` says how many. */
  counted(newest = this.kept): WindowRow[] {
    const counts = Array.from({ length: this.#handlers }, () => SPAN_OUTCOMES.map(() => 0));
    const ns = new Float64Array(this.#handlers);
    const first = this.added - newest;
    for (let number = 0; number < newest; number++) {
      const row = (((first + number) % this.capacity) + 1) * ROW;
      const head = this.#words[2 * row + HEAD]!;
      const place = placeOf(head);
      counts[place]![outcomeOf(head)]! += 1;
      // Whole numbers, whose sum is the same in any order.
      ns[place]! += Math.round(this.#doubles[row + DURATION_MS]! * NS_PER_MS);
    }
    return counts.map((of, place) => ({ place, counts: of, seconds: ns[place]! / NS_PER_S }));
  }
}

function headOf(place: number, outcome: SpanOutcome, flags: number): number {
  return (place * OUTCOMES + outcome) * FLAGS + flags;
}

function placeOf(head: number): number {
  return Math.floor(head / (FLAGS * OUTCOMES));
}

function outcomeOf(head: number): SpanOutcome {
  return (Math.floor(head / FLAGS) % OUTCOMES) as SpanOutcome;
}

function flagsOf(head: number): number {
  return head % FLAGS;
}
