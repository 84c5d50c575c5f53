// RouterState: what a router knows of the orchestrator, as a state machine without I/O and clock. A service is held while at least one
// hold names it.
import type { Hold, OrchestratorMessage } from './messages.ts';
import { type RouteTable, withUpdate } from './route-table.ts';

export interface RouterChange {
  /** The new table; undefined: it is as it was. */
  readonly table: RouteTable | undefined;
  /** Holds that have begun. */
  readonly begun: readonly Hold[];
  /** Keys of services that are not held any more. */
  readonly released: readonly string[];
}

export class RouterState {
  #table: RouteTable | undefined;
  readonly #holds = new Map<number, string>();

  isHeld(key: string): boolean {
    return [...this.#holds.values()].includes(key);
  }

  /** Returns the change; undefined if the message does not follow from those before, so that a new snapshot is needed. */
  receive(message: OrchestratorMessage): RouterChange | undefined {
    if (message.type === 'snapshot') return this.#replace(message.table, message.holds);
    if (this.#table === undefined) return undefined;
    if (message.type === 'update') {
      const table = withUpdate(this.#table, message.update);
      if (table === undefined) return undefined;
      this.#table = table;
      return { table, begun: [], released: [] };
    }
    if (message.type === 'hold') {
      this.#holds.set(message.hold.id, message.hold.key);
      return { table: undefined, begun: [message.hold], released: [] };
    }
    return this.release(message.id);
  }

  /** Ends a hold, by the orchestrator or because its time is up. */
  release(id: number): RouterChange {
    const key = this.#holds.get(id);
    this.#holds.delete(id);
    const released = key === undefined || this.isHeld(key) ? [] : [key];
    return { table: undefined, begun: [], released };
  }

  /** A snapshot names all holds; those of before that it does not name have ended meanwhile. */
  #replace(table: RouteTable, holds: readonly Hold[]): RouterChange {
    const former = new Set(this.#holds.values());
    this.#holds.clear();
    for (const { id, key } of holds) this.#holds.set(id, key);
    this.#table = table;
    return { table, begun: holds, released: [...former].filter((key) => !this.isHeld(key)) };
  }
}
