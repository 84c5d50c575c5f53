// SpanRows holds the numbers of a shard's recent spans, a row for each. Between two requests the memory of the spans
// leaves the processor's cache. A row is one cache line, so recording loads one line; an array for each field would
// cost several times as much. The rows are in shared memory: the main thread counts the spans in the window
// when it is asked, even while the shard is busy, and no request pays for the counts. Invariant: only one thread adds,
// and an added span is in the window at once.
import type { EndedInvocation } from '../../engine/needs/recorder.ts';
import { SPAN_OUTCOMES, type SpanOutcome } from '@svc/model/span-outcome';

/** Size of a row in 64-bit words, which is one cache line. The header lies before the first row. */
const ROW = 8;
const DURATION_MS = 0;
const START_MS = 1;
const FUEL = 2;
const TRACE_HIGH = 4;
const TRACE_LOW = 5;
const SPAN_ID = 6;
/** Id of the parent span; 0: there is none. */
const PARENT_ID = 7;
/** Offsets in 32-bit words: these two are the halves of the 64-bit word 3. */
const HEAD = 6;
const DETAIL = 7;

/**
 * Offsets in the header: the number of spans since the process started, that number when the current thread began,
 * and the time origin of that thread's clock in milliseconds since 1970.
 */
const RECORDED = 0;
const BEGAN_AT = 1;
const ORIGIN_MS = 2;

/**
 * A head combines handler index, outcome and trace flags in one number, so that a concurrent reader sees those of one
 * span. Flags are as kit/trace-context.ts passes them on, less than UNTRACED, which stands for a span without a trace.
 * FLAGS is the number of values that they may have.
 */
const FLAGS = 8;
const UNTRACED = FLAGS - 1;
const OUTCOMES = SPAN_OUTCOMES.length;
const NS_PER_MS = 1e6;
const NS_PER_S = 1e9;

/** Fields of an invocation that a row holds; a row has no space for texts. */
export type RowInvocation = Omit<EndedInvocation, 'traceState'>;

export interface KeptRow extends RowInvocation {
  readonly outcome: SpanOutcome;
  readonly durationMs: number;
  /** As `add` was given it. */
  readonly detail: number;
}

/** Counts of one handler in the window. */
export interface WindowRow {
  /** Index of the handler (model/handler-table.ts). */
  readonly handlerIndex: number;
  /** Counts by outcome, in the order of SPAN_OUTCOMES. */
  readonly counts: readonly number[];
  readonly seconds: number;
}

export class SpanRows {
  /** Maximum number of spans. */
  readonly capacity: number;
  /** The memory, for another thread. */
  readonly shared: SharedArrayBuffer;
  readonly #handlers: number;
  readonly #doubles: Float64Array;
  readonly #ids: BigUint64Array;
  readonly #words: Uint32Array;
  /** Index of the row that the next span gets. */
  #next = 0;

  /**
   * `handlers`: number of the module's handlers. `capacity`: at least one. `shared`: the memory of another thread's
   * rows; absent: new memory.
   */
  constructor(handlers: number, capacity: number, shared?: SharedArrayBuffer) {
    this.capacity = capacity;
    this.#handlers = handlers;
    const bytes = (1 + capacity) * ROW * Float64Array.BYTES_PER_ELEMENT;
    this.shared = shared ?? new SharedArrayBuffer(bytes);
    this.#doubles = new Float64Array(this.shared);
    this.#ids = new BigUint64Array(this.shared);
    this.#words = new Uint32Array(this.shared);
  }

  /** Empties the window: the spans of an earlier thread are gone. */
  begin(): void {
    this.#doubles[BEGAN_AT] = this.recorded;
    this.#doubles[ORIGIN_MS] = performance.timeOrigin;
    this.#next = 0;
  }

  /** Continues the counts of `before`, whose spans leave the window. Must be called before anything is added. */
  continueFrom(before: SpanRows): void {
    this.#doubles[RECORDED] = before.recorded;
    this.#doubles[BEGAN_AT] = before.recorded;
  }

  /**
   * Adds a span, which replaces the oldest one if the window is full. Returns the index of its row. `detail`: 32 bits
   * for the caller's use.
   */
  add(span: RowInvocation, durationMs: number, outcome: SpanOutcome, detail: number): number {
    const at = this.#next;
    this.#next = at + 1 === this.capacity ? 0 : at + 1;
    const row = (at + 1) * ROW;
    const { handlerIndex, trace } = span;
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
    this.#words[2 * row + HEAD] = headOf(handlerIndex, outcome, flags);
    this.#words[2 * row + DETAIL] = detail;
    this.#doubles[RECORDED]! += 1;
    return at;
  }

  /** Returns the row at an index. */
  at(at: number): KeptRow {
    const row = (at + 1) * ROW;
    const head = this.#words[2 * row + HEAD]!;
    const flags = flagsOf(head);
    const isTraced = flags !== UNTRACED;
    const [high, low, spanId, parentId] = this.#ids.subarray(row + TRACE_HIGH, row + ROW);
    return {
      handlerIndex: handlerIndexOf(head),
      outcome: outcomeOf(head),
      startMs: this.#doubles[row + START_MS]!,
      durationMs: this.#doubles[row + DURATION_MS]!,
      fuel: this.#doubles[row + FUEL]!,
      detail: this.#words[2 * row + DETAIL]!,
      trace: isTraced ? { trace: { high: high!, low: low! }, spanId: spanId!, flags } : undefined,
      parentId: isTraced && parentId !== 0n ? parentId : undefined,
    };
  }

  /** Number of spans since the process started. */
  get recorded(): number {
    return this.#doubles[RECORDED]!;
  }

  /** Number of spans that the current thread has added. */
  get added(): number {
    return this.#doubles[RECORDED]! - this.#doubles[BEGAN_AT]!;
  }

  /** Number of spans in the window. */
  get kept(): number {
    return Math.min(this.added, this.capacity);
  }

  /** Returns when a span ended, in milliseconds since 1970. `age`: 0 is the newest span. */
  endMs(age: number): number {
    const row = (((this.added - 1 - age) % this.capacity) + 1) * ROW;
    return (
      this.#doubles[ORIGIN_MS]! + this.#doubles[row + START_MS]! + this.#doubles[row + DURATION_MS]!
    );
  }

  /** Counts the newest spans by handler. `newest`: number of spans, at most `kept`, the default. */
  counted(newest = this.kept): WindowRow[] {
    const counts = Array.from({ length: this.#handlers }, () => SPAN_OUTCOMES.map(() => 0));
    const ns = new Float64Array(this.#handlers);
    const first = this.added - newest;
    for (let number = 0; number < newest; number++) {
      const row = (((first + number) % this.capacity) + 1) * ROW;
      const head = this.#words[2 * row + HEAD]!;
      const handlerIndex = handlerIndexOf(head);
      counts[handlerIndex]![outcomeOf(head)]! += 1;
      // Integers are summed, so that the sum does not depend on the order.
      ns[handlerIndex]! += Math.round(this.#doubles[row + DURATION_MS]! * NS_PER_MS);
    }
    return counts.map((of, handlerIndex) => ({
      handlerIndex,
      counts: of,
      seconds: ns[handlerIndex]! / NS_PER_S,
    }));
  }
}

function headOf(handlerIndex: number, outcome: SpanOutcome, flags: number): number {
  return (handlerIndex * OUTCOMES + outcome) * FLAGS + flags;
}

function handlerIndexOf(head: number): number {
  return Math.floor(head / (FLAGS * OUTCOMES));
}

function outcomeOf(head: number): SpanOutcome {
  return (Math.floor(head / FLAGS) % OUTCOMES) as SpanOutcome;
}

function flagsOf(head: number): number {
  return head % FLAGS;
}
