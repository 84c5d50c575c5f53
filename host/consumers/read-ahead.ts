// ReadAhead knows which pages of the feed were read and are not settled, and so the position up to which all events are.
//
// Invariant: `position` is before the first page with an event that is held.
import type { FeedRecord, Position } from '../engine/needs/feed.ts';

/** A page of the feed. */
export interface ReadPage {
  /** The position after the page. */
  readonly position: Position;
  /** Events of the page. */
  readonly events: number;
  /** UTF-16 units of their JSON text. */
  readonly units: number;
  /** Events of the page that are held in memory, because they are not settled. */
  held: number;
}

export class ReadAhead {
  readonly #pages: ReadPage[] = [];
  #position: Position;
  #events = 0;
  #units = 0;

  /** `position`: where reading begins. */
  constructor(position: Position) {
    this.#position = position;
  }

  /** The position before which all events are settled, or wait in the journal. */
  get position(): Position {
    return this.#position;
  }

  /** Events after this position that were read, settled ones included. */
  get events(): number {
    return this.#events;
  }

  /** UTF-16 units of their JSON text. */
  get units(): number {
    return this.#units;
  }

  add(position: Position, events: number, units: number): ReadPage {
    const page = { position, events, units, held: 0 };
    this.#pages.push(page);
    this.#events += events;
    this.#units += units;
    return page;
  }

  /** Moves the position past the pages without held events. */
  advance(): void {
    let passed = 0;
    for (const page of this.#pages) {
      if (page.held > 0) break;
      this.#position = page.position;
      this.#events -= page.events;
      this.#units -= page.units;
      passed++;
    }
    this.#pages.splice(0, passed);
  }
}

/** Returns the UTF-16 units of the JSON text of events. */
export function unitsOf(records: readonly FeedRecord[]): number {
  return records.reduce(
    (sum, { record }) => sum + (record.kind === 'event' ? record.event.json.length : 0),
    0,
  );
}
