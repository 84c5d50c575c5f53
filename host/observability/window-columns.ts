// WindowColumns: of the spans that a shard keeps, what metrics are made of: whose they are, how they came out, and how long
// they took. In shared memory: the main thread counts them when it is asked, also while the shard is kept busy, and no
// request pays for a count. Invariant: one thread adds, and what it adds is in the window at once.
import { SPAN_OUTCOMES, type SpanOutcome } from '../model/span-outcome.ts';

const OUTCOMES = SPAN_OUTCOMES.length;
const NS_PER_MS = 1e6;
const NS_PER_S = 1e9;
/** Spans of threads before the present one, and of the present one. */
const BEFORE = 0;
const ADDED = 1;
const HEADER = 2;

export interface WindowRow {
  /** Of the handler (model/handler-places.ts). */
  readonly place: number;
  /** By outcome, in the order of SPAN_OUTCOMES. */
  readonly counts: number[];
  seconds: number;
}

export class WindowColumns {
  /** Spans that are kept at most. */
  readonly capacity: number;
  /** For the other thread. */
  readonly shared: SharedArrayBuffer;
  readonly #handlers: number;
  readonly #numbers: Float64Array;
  readonly #durationMs: Float64Array;
  /** Of each span, its place and its outcome in one number: whoever reads meanwhile sees both of the same span. */
  readonly #comings: Uint32Array;
  /** Where the next one goes. */
  #next = 0;

  /** `handlers`: how many the module has. `capacity`: at least one. `shared`: what the other thread's was made with. */
  constructor(handlers: number, capacity: number, shared?: SharedArrayBuffer) {
    const doubles = HEADER + capacity;
    const { BYTES_PER_ELEMENT: bytes } = Float64Array;
    this.capacity = capacity;
    this.#handlers = handlers;
    this.shared =
      shared ?? new SharedArrayBuffer(doubles * bytes + capacity * Uint32Array.BYTES_PER_ELEMENT);
    this.#numbers = new Float64Array(this.shared, 0, HEADER);
    this.#durationMs = new Float64Array(this.shared, HEADER * bytes, capacity);
    this.#comings = new Uint32Array(this.shared, doubles * bytes, capacity);
  }

  /** The window is empty: what a thread before had kept is gone. */
  begin(): void {
    this.goOnFrom(this);
    this.#next = 0;
  }

  /** As many spans were recorded as by this one, whose spans are gone. */
  goOnFrom({ recorded }: WindowColumns): void {
    this.#numbers[BEFORE] = recorded;
    this.#numbers[ADDED] = 0;
  }

  /** Says where the span is kept: below the capacity, and where the one was that leaves the window for it. */
  add(place: number, outcome: SpanOutcome, durationMs: number): number {
    const at = this.#next;
    this.#next = at + 1 === this.capacity ? 0 : at + 1;
    this.#comings[at] = place * OUTCOMES + outcome;
    this.#durationMs[at] = durationMs;
    this.#numbers[ADDED]! += 1;
    return at;
  }

  /** Since the process started. */
  get recorded(): number {
    return this.#numbers[BEFORE]! + this.#numbers[ADDED]!;
  }

  /** By the present thread. */
  get added(): number {
    return this.#numbers[ADDED]!;
  }

  placeAt(at: number): number {
    return Math.floor(this.#comings[at]! / OUTCOMES);
  }

  outcomeAt(at: number): SpanOutcome {
    return (this.#comings[at]! % OUTCOMES) as SpanOutcome;
  }

  durationMsAt(at: number): number {
    return this.#durationMs[at]!;
  }

  /** Of each handler, what is in the window. */
  rows(): WindowRow[] {
    const ns = new Float64Array(this.#handlers);
    const rows = Array.from({ length: this.#handlers }, (_, place) => ({
      place,
      counts: SPAN_OUTCOMES.map(() => 0),
      seconds: 0,
    }));
    const kept = Math.min(this.added, this.capacity);
    for (let at = 0; at < kept; at++) {
      const coming = this.#comings[at]!;
      const place = Math.floor(coming / OUTCOMES);
      rows[place]!.counts[coming % OUTCOMES]! += 1;
      // Whole numbers, whose sum is the same in any order.
      ns[place]! += Math.round(this.#durationMs[at]! * NS_PER_MS);
    }
    for (const row of rows) row.seconds = ns[row.place]! / NS_PER_S;
    return rows;
  }
}
