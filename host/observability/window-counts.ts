// WindowCounts: of the spans that a shard keeps, how many there are of each handler and outcome, and how long they took
// together. In shared memory: the main thread makes the metrics of it without asking the shard. Durations are whole
// nanoseconds, whose sums stay exact however often they are added to and taken from.
import { SPAN_OUTCOMES, type SpanOutcome } from '../model/span-outcome.ts';

const OUTCOMES = SPAN_OUTCOMES.length;
const NS_PER_MS = 1e6;
const NS_PER_S = 1e9;
/** Spans since the process started, and spans that the window holds at most. */
const RECORDED = 0;
const CAPACITY = 1;
const HEADER = 2;

export interface WindowRow {
  /** Of the handler (model/handler-places.ts). */
  readonly place: number;
  /** By outcome, in the order of SPAN_OUTCOMES. */
  readonly counts: readonly number[];
  readonly seconds: number;
}

export class WindowCounts {
  /** For the other thread. */
  readonly shared: SharedArrayBuffer;
  readonly #numbers: Float64Array;
  readonly #handlers: number;

  /** `handlers`: how many the module has. `shared`: what the other thread's was made with. */
  constructor(handlers: number, shared?: SharedArrayBuffer) {
    const length = HEADER + handlers * (OUTCOMES + 1);
    this.#handlers = handlers;
    this.shared = shared ?? new SharedArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT);
    this.#numbers = new Float64Array(this.shared);
  }

  /** A window of this size begins, and holds nothing: what a thread before had kept is gone. */
  begin(capacity: number): void {
    this.#numbers.fill(0, HEADER);
    this.#numbers[CAPACITY] = capacity;
  }

  /** As many spans were recorded as by this one, for handlers that are no more. */
  goOnFrom({ recorded }: WindowCounts): void {
    this.#numbers[RECORDED] = recorded;
  }

  add(place: number, outcome: SpanOutcome, durationMs: number): void {
    this.#numbers[RECORDED]! += 1;
    this.#change(place, outcome, durationMs, 1);
  }

  /** A span has left the window. */
  remove(place: number, outcome: SpanOutcome, durationMs: number): void {
    this.#change(place, outcome, durationMs, -1);
  }

  get recorded(): number {
    return this.#numbers[RECORDED]!;
  }

  get capacity(): number {
    return this.#numbers[CAPACITY]!;
  }

  rows(): WindowRow[] {
    return Array.from({ length: this.#handlers }, (_, place) => {
      const at = HEADER + place * (OUTCOMES + 1);
      return {
        place,
        counts: [...this.#numbers.subarray(at, at + OUTCOMES)],
        seconds: this.#numbers[at + OUTCOMES]! / NS_PER_S,
      };
    });
  }

  #change(place: number, outcome: SpanOutcome, durationMs: number, sign: 1 | -1): void {
    const at = HEADER + place * (OUTCOMES + 1);
    this.#numbers[at + outcome]! += sign;
    this.#numbers[at + OUTCOMES]! += sign * Math.round(durationMs * NS_PER_MS);
  }
}
