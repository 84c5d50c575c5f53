// EmbeddedViews: implements the engine's views for TypeScript views: which rows an event concerns, and what it makes of
// them.
//
// Invariant: whatever the batches, the same rows come out. The JSON text of a row is read once and written once a batch,
// but between two events the row passes through its schema, as if it had been stored: a row that does not fit is a fault
// at once, and no event gets what its schema would not keep.
import type { GuestViews } from '@svc/model/guest';
import type { EntityEvent } from '@svc/model/entity';
import { GuestFault } from '@svc/model/guest-fault';
import { NameTable } from '@svc/model/name-table';
import type { KeyedEvent, RowState } from '@svc/model/view';
import assert from 'node:assert/strict';
import { atOnce } from './at-once.ts';
import { CodecProblem, STORED_DEPTH_MAX } from './codec.ts';
import { decodeEvent, eventLabel } from './event-source.ts';
import { programFault } from './program-fault.ts';
import {
  type FoldContext,
  RowChange,
  type ViewDefinition,
  type ViewSource,
} from './view-definition.ts';

export class EmbeddedViews implements GuestViews {
  readonly #views: NameTable<ViewDefinition>;
  #isClosed = false;

  constructor(views: readonly ViewDefinition[]) {
    this.#views = new NameTable(views.map((view) => [view.id, view] as const));
  }

  keys(id: string, events: readonly EntityEvent[]): readonly (readonly string[])[] | string {
    const view = this.#view(id);
    return orProblem(() => events.map((event) => keysOf(view, event)));
  }

  fold(
    id: string,
    rows: readonly RowState[],
    events: readonly KeyedEvent[],
  ): readonly RowState[] | string {
    const view = this.#view(id);
    return orProblem(() => {
      const folded = rows.map((row) => new FoldedRow(view, row));
      for (const { event, rows: concerned } of events)
        for (const index of concerned) folded[index]!.fold(event);
      return folded.flatMap((row) => row.changed() ?? []);
    });
  }

  close(): void {
    this.#isClosed = true;
  }

  #view(id: string): ViewDefinition {
    if (this.#isClosed) throw new GuestFault('trap', 'The service was stopped.');
    const view = this.#views.get(id);
    assert(view !== undefined, 'a view that was not given');
    return view;
  }
}

/** A row while events are folded into it. */
class FoldedRow {
  readonly #view: ViewDefinition;
  readonly #before: RowState;
  /** The row in the form of JSON.parse; undefined: there is none. */
  #value: unknown;
  #isChanged = false;

  /** Throws UnreadableProblem. */
  constructor(view: ViewDefinition, before: RowState) {
    this.#view = view;
    this.#before = before;
    const { key, json } = before;
    if (json !== undefined) this.#value = readable(`row '${key}'`, () => parsed(json));
  }

  /** Folds an event. Throws GuestFault, or UnreadableProblem. */
  fold(event: EntityEvent): void {
    const { key } = this.#before;
    const source = sourceOf(this.#view, event);
    const row =
      this.#value === undefined
        ? undefined
        : readable(`row '${key}'`, () =>
            this.#view.row.decodeValue(this.#value, 'row', STORED_DEPTH_MAX),
          );
    const decoded = readable(eventLabel(event), () => decodeEvent(source.entity, event.event));
    try {
      this.#take(
        atOnce(
          source.fold(row as never, decoded as never, foldContext(event, key)),
          'it answered a promise',
        ),
      );
    } catch (error) {
      throw programFault(`the fold of view '${this.#view.id}' at ${eventLabel(event)}`, error);
    }
  }

  /** Returns the row if it is another one than before. */
  changed(): RowState | undefined {
    if (!this.#isChanged) return undefined;
    const { key, json: before } = this.#before;
    const json = this.#value === undefined ? undefined : JSON.stringify(this.#value);
    return json === before ? undefined : { key, json };
  }

  #take(change: unknown): void {
    if (!(change instanceof RowChange))
      throw new Error('it answered no change of the row: return put(row), remove() or keep()');
    if (change.kind === 'keep') return;
    this.#isChanged = true;
    this.#value =
      change.kind === 'remove' ? undefined : this.#view.row.encodeValue(change.row, 'row');
  }
}

/** A stored event or row that does not decode. */
class UnreadableProblem extends Error {}

function orProblem<T>(run: () => T): T | string {
  try {
    return run();
  } catch (error) {
    if (error instanceof UnreadableProblem) return error.message;
    throw error;
  }
}

function readable<T>(what: string, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (error instanceof CodecProblem) throw new UnreadableProblem(`${what}: ${error.message}`);
    throw programFault(`reading ${what}`, error);
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new CodecProblem(`is not JSON: ${(error as Error).message}`);
  }
}

function sourceOf(
  { id, sources }: ViewDefinition,
  event: EntityEvent,
): ViewSource<unknown, unknown> {
  const source = sources.get(event.entity.component);
  assert(source !== undefined, `an event that view '${id}' does not fold`);
  return source;
}

function keysOf(view: ViewDefinition, event: EntityEvent): readonly string[] {
  const source = sourceOf(view, event);
  const { seq, timeMs } = event;
  const entityId = event.entity.id;
  if (source.keys === undefined) return [entityId];
  const decoded = readable(eventLabel(event), () => decodeEvent(source.entity, event.event));
  try {
    const context = { entityId, seq, timeMs };
    const found = atOnce(source.keys(decoded as never, context), 'it answered a promise');
    if (!Array.isArray(found) || !found.every((key) => typeof key === 'string'))
      throw new Error('it answered no list of texts');
    return found.map((key: string) => key.toWellFormed());
  } catch (error) {
    throw programFault(`the keys of view '${view.id}' at ${eventLabel(event)}`, error);
  }
}

const REMOVE = new RowChange<unknown>('remove');
const KEEP = new RowChange<unknown>('keep');
const put: FoldContext<unknown>['put'] = (row) => new RowChange<unknown>('put', row);
const remove = () => REMOVE;
const keep = () => KEEP;

function foldContext(
  { entity: { id }, seq, timeMs }: EntityEvent,
  key: string,
): FoldContext<unknown> {
  return { entityId: id, seq, timeMs, key, put, remove, keep };
}
