// TraceStates holds the `tracestate` of the spans in a ring that have one, indexed by the span's row. Few services
// receive any, so this is a sparse map, and a span without a `tracestate` costs one comparison.
//
// Invariant: the states have at most BYTES_MAX characters together, whatever the ring's capacity is. Beyond it the
// oldest are dropped, and their spans are exported without a `tracestate`.

/** Maximum number of bytes. A character is one byte: a kept state is printable ASCII (kit/trace-state.ts). */
const BYTES_MAX = 4 * 1024 * 1024;

export class TraceStates {
  readonly #bytesMax: number;
  /** Oldest first. */
  readonly #states = new Map<number, string>();
  #bytes = 0;

  constructor(bytesMax = BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** Sets or removes the state of a slot, the row of a span. Called in the order in which spans are recorded. */
  put(slot: number, state: string | undefined): void {
    if (state === undefined && this.#bytes === 0) return;
    this.#drop(slot);
    if (state === undefined) return;
    // This copies the text, because it may be a slice of a longer one that it would keep in memory.
    this.#states.set(slot, Buffer.from(state, 'latin1').toString('latin1'));
    this.#bytes += state.length;
    for (const oldest of this.#states.keys()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#drop(oldest);
    }
  }

  at(slot: number): string | undefined {
    return this.#states.get(slot);
  }

  #drop(slot: number): void {
    this.#bytes -= this.#states.get(slot)?.length ?? 0;
    this.#states.delete(slot);
  }
}
