// TraceStates: the `tracestate` of those spans in a ring that have one, by the slot of the span. Few services get any,
// so there is no array of them: a span without one costs a comparison.
//
// Invariant: the states that are kept have BYTES_MAX characters together at most, whatever the ring's capacity is;
// beyond it the oldest are dropped, and their spans are exported without.

/** One character is one byte: a state that is kept is printable ASCII (model/trace-state.ts). */
const BYTES_MAX = 4 * 1024 * 1024;

export class TraceStates {
  readonly #bytesMax: number;
  /** Oldest first. */
  readonly #states = new Map<number, string>();
  #bytes = 0;

  constructor(bytesMax = BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** Replaces what the slot had. Spans are put in the order in which they are recorded. */
  put(slot: number, state: string | undefined): void {
    if (state === undefined && this.#bytes === 0) return;
    this.#drop(slot);
    if (state === undefined) return;
    // A copy: the text may be a part of a longer one, which it would keep in memory.
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
