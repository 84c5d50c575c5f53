// RowBatch folds events into rows, and collects how the rows change until all changes are stored together. Events that follow
// one another are folded in one call of the guest, in which each row is read and written once.
//
// Invariants
// B1  The rows that a call of the guest gets have the state after all events before those of the call.
// B2  A deletion comes after the events before it: they are folded first, and events after it begin without a row.
import type { GuestViews } from '@svc/model/guest';
import type { RowChange, ViewWriter } from '../engine/needs/views.ts';
import type { EntityEvent } from '@svc/model/entity';
import type { KeyedEvent, RowState } from '@svc/model/view';
import type { FoldedView } from './folded-view.ts';

/** Maximum number of events in one call of the guest. */
const EVENTS_PER_CALL_MAX = 256;
/** UTF-16 units of rows and events after which the guest is called. */
const UNITS_PER_CALL = 2 * 1024 * 1024;
/** UTF-16 units of changed rows that a batch holds in memory. */
const CHANGED_UNITS_MAX = 8 * 1024 * 1024;

export interface RowBatchNeeds {
  readonly view: FoldedView;
  readonly guest: GuestViews;
  readonly writer: Pick<ViewWriter, 'rows'>;
}

/** Thrown by `RowBatch` when the guest could not decode an event or a row. */
export class UndecodedEvent extends Error {}

export class RowBatch {
  readonly #needs: RowBatchNeeds;
  /** The rows that have changed, as they are now: JSON texts, or undefined for removed ones. */
  readonly #changed = new Map<string, string | undefined>();
  #changedUnits = 0;
  /** The call of the guest that is being prepared. */
  #rows: RowState[] = [];
  readonly #indices = new Map<string, number>();
  #events: KeyedEvent[] = [];
  #units = 0;

  constructor(needs: RowBatchNeeds) {
    this.#needs = needs;
  }

  /** Whether the changes take more memory than a batch may use, so that they have to be stored with fewer events. */
  get isTooLarge(): boolean {
    return this.#changedUnits > CHANGED_UNITS_MAX;
  }

  /** Folds an event into the rows of these keys, each given once. */
  async fold(event: EntityEvent, keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    const rows: number[] = [];
    for (const key of keys) rows.push(this.#indices.get(key) ?? (await this.#load(key)));
    this.#events.push({ event, rows });
    this.#units += event.event.json.length;
    if (this.#events.length >= EVENTS_PER_CALL_MAX || this.#units >= UNITS_PER_CALL)
      await this.flush();
  }

  /** Removes the row of a key. */
  async remove(key: string): Promise<void> {
    if (this.#indices.has(key)) await this.flush();
    this.#change(key, undefined);
  }

  /** Calls the guest with the events that wait for it. Throws GuestFault and UndecodedEvent. */
  async flush(): Promise<void> {
    if (this.#events.length === 0) return;
    const { view, guest } = this.#needs;
    const rows = this.#rows;
    const events = this.#events;
    this.#rows = [];
    this.#events = [];
    this.#indices.clear();
    this.#units = 0;
    const folded = await guest.fold(view.id, rows, events);
    if (typeof folded === 'string') throw new UndecodedEvent(folded);
    for (const { key, json } of folded) this.#change(key, json);
  }

  /** Returns the changes, each key once. Call it after `flush`. */
  changes(): readonly RowChange[] {
    return Array.from(this.#changed, ([key, json]) => ({ key, json }));
  }

  async #load(key: string): Promise<number> {
    const json = this.#changed.has(key)
      ? this.#changed.get(key)
      : (await this.#needs.writer.rows([key]))[0];
    const index = this.#rows.length;
    this.#rows.push({ key, json });
    this.#indices.set(key, index);
    this.#units += json?.length ?? 0;
    return index;
  }

  #change(key: string, json: string | undefined): void {
    this.#changedUnits -= this.#changed.get(key)?.length ?? 0;
    this.#changed.set(key, json);
    this.#changedUnits += json?.length ?? 0;
  }
}
