// Outbox: the answers that one turn of the event loop has made, written together at its end. Writing to
// a socket wakes up who waits at its other end, and waking is the larger part of a write: of those that
// follow at once, most find that end awake.

/** Something to write, exactly once. It must not throw. */
export interface Outgoing {
  /** `endMs`: when the writing of this turn's answers begins. */
  write(endMs: number): void;
}

export class Outbox {
  readonly #endMs: () => number;
  #outgoing: Outgoing[] = [];

  constructor(endMs: () => number) {
    this.#endMs = endMs;
  }

  /** Writes it before the next turn of the event loop, after what was added before. */
  add(outgoing: Outgoing): void {
    this.#outgoing.push(outgoing);
    if (this.#outgoing.length === 1) setImmediate(() => this.#writeAll());
  }

  #writeAll(): void {
    const outgoing = this.#outgoing;
    this.#outgoing = [];
    const endMs = this.#endMs();
    for (const one of outgoing) one.write(endMs);
  }
}
