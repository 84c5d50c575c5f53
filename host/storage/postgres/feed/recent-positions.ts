// RecentPositions keeps what belongs to the positions that came last, a bounded number of them. It is a ring: a map that loses an
// entry for each one that it gets costs more than the values that it saves.
import type { Position } from '../../../engine/needs/feed.ts';

/** Number of positions that are kept. */
const KEPT_MAX = 16;

export class RecentPositions<T> {
  readonly #positions: Position[] = [];
  readonly #values: T[] = [];
  /** Index of the next position that is replaced. */
  #next = 0;

  get(position: Position): T | undefined {
    const at = this.#positions.indexOf(position);
    return at === -1 ? undefined : this.#values[at];
  }

  /** Keeps the value of a position that has none yet, instead of that of the oldest one. */
  add(position: Position, value: T): void {
    if (this.#positions.includes(position)) return;
    this.#positions[this.#next] = position;
    this.#values[this.#next] = value;
    this.#next = (this.#next + 1) % KEPT_MAX;
  }
}
