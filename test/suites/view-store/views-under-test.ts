// ViewsUnderTest: a store of views for one test, and what its tests have in common.
import type { ColumnKind, ViewQueryPlan } from '@svc/contract';
import type {
  FoldedTo,
  RowChange,
  StoredView,
  ViewIndex,
  ViewQuery,
  ViewReader,
  ViewStore,
  ViewWriter,
} from '../../../host/engine/needs/views.ts';
import type { Awaitable } from '../../../model/call.ts';
import { VIEW_LIMITS_DEFAULT, type ViewLimits } from '../../../model/view-limits.ts';

/** A store that was made for a test. */
export interface MadeStore {
  readonly store: ViewStore;
  /** Ends what the test used, whatever state it is in. */
  discard(): Awaitable<void>;
}

export type MakeStore = (limits: ViewLimits) => Awaitable<MadeStore>;

export const DEFINITION = 'd0'.repeat(16);
export const OTHER = 'e1'.repeat(16);

export class ViewsUnderTest {
  readonly #make: MakeStore;
  readonly #opened: { close(): void }[] = [];
  #made: MadeStore | undefined = undefined;

  constructor(make: MakeStore) {
    this.#make = make;
  }

  get store(): ViewStore {
    return this.#made!.store;
  }

  /** Begins with another store, which is empty. */
  async use(limits: Partial<ViewLimits> = {}): Promise<void> {
    await this.discard();
    this.#made = await this.#make({ ...VIEW_LIMITS_DEFAULT, ...limits });
  }

  async discard(): Promise<void> {
    for (const opened of this.#opened.splice(0)) opened.close();
    await this.#made?.discard();
    this.#made = undefined;
  }

  async writer(view: StoredView): Promise<ViewWriter> {
    const writer = await this.store.openWriter(view);
    this.#opened.push(writer);
    return writer;
  }

  reader(view: StoredView): ViewReader {
    const reader = this.store.reader(view);
    this.#opened.push(reader);
    return reader;
  }

  /** A view with these rows, which is live. */
  async live(
    view: StoredView,
    ...rows: readonly RowChange[]
  ): Promise<{ readonly writer: ViewWriter; readonly reader: ViewReader }> {
    const writer = await this.writer(view);
    await writer.put(rows, folded(1));
    await finish(writer);
    return { writer, reader: this.reader(view) };
  }
}

export function indexOn(
  ...fields: readonly (readonly [field: string, kind: ColumnKind])[]
): ViewIndex {
  return fields.map(([field, kind]) => ({ field, type: { kind, isNullable: true } }));
}

export function viewOf(...indexes: readonly ViewIndex[]): StoredView {
  return { id: 'orders', rowType: 'type 1', definition: DEFINITION, indexes };
}

export function folded(position: number): FoldedTo {
  return { position: String(position), mark: `mark of ${position}` };
}

export function row(key: string, fields: object): RowChange {
  return { key, json: JSON.stringify(fields) };
}

export function planned(
  plan: Partial<ViewQueryPlan>,
  parameters: ViewQuery['parameters'] = {},
): ViewQuery {
  return { plan: { index: 0, equals: [], descending: false, ...plan }, parameters };
}

export const ALL_KEYS = planned({ index: 'key' });

/** Does all work on indexes, and makes the rows readable. */
export async function finish(writer: ViewWriter): Promise<void> {
  while (!(await writer.prepareIndexes(1_000)));
  await writer.goLive();
}

/** The keys of all rows of a query, page by page. */
export async function keysOf(reader: ViewReader, query: ViewQuery, limit = 3): Promise<string[]> {
  const keys: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await reader.find(query, limit, cursor);
    keys.push(...page.rows.map(({ key }) => key));
    ({ cursor } = page);
  } while (cursor !== undefined);
  return keys;
}

/** Resolves to the error of a call, which may throw or reject. */
export async function failureOf(call: () => unknown): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    return error;
  }
}
