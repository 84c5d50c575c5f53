// Deadlines of many connections, checked by one timer. Setting a deadline is an assignment, so a connection can move it
// with every message at no cost; an item is called up to `everyMs` after its deadline.

export interface Swept {
  /** Time by the sweep's clock after which `onDeadline` is called. Infinity: not at all. */
  readonly deadlineMs: number;
  /** Called by every sweep until the item has moved its deadline or was removed. */
  onDeadline(nowMs: number): void;
}

export class Sweep {
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  readonly #everyMs: number;
  readonly #items = new Set<Swept>();
  #timer: NodeJS.Timeout | undefined;

  constructor(everyMs: number, now: () => number = () => performance.now()) {
    this.#everyMs = everyMs;
    this.now = now;
  }

  get size(): number {
    return this.#items.size;
  }

  /** Adds an item. The timer of a sweep keeps no process alive. */
  add(item: Swept): void {
    this.#items.add(item);
    this.#timer ??= setInterval(() => this.run(), this.#everyMs).unref();
  }

  remove(item: Swept): void {
    if (!this.#items.delete(item) || this.#items.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Calls the items whose deadline has passed. */
  run(): void {
    const nowMs = this.now();
    for (const item of this.#items) if (item.deadlineMs <= nowMs) item.onDeadline(nowMs);
  }
}
