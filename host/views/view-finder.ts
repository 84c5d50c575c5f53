// ViewFinder answers the queries of a service's views for the handlers of one thread.
//
// Invariants
// N1  A page has every event before the position `after` that its caller names, or says up to when it has them, or the query
//     fails. The second is for rows of a former definition, and never for a position that a request names.
// N2  A query waits at most `waitMs`. It does not wait for what cannot come: for a view that has stopped, or that has many
//     events to fold before it can be queried.
import { type ModuleDescriptor, type TypeSchema, jsonMismatch, recordOf } from '@svc/contract';
import { SvcError } from '@svc/kit/svc-error';
import type { ServiceClock } from '../engine/needs/clock.ts';
import type { Position, Positions } from '../engine/needs/feed.ts';
import type { ViewQuery, ViewReader, ViewStore } from '../engine/needs/views.ts';
import { quoted } from '../engine/quoted.ts';
import { type Awaitable, type Refusal, refusal } from '@svc/model/call';
import { NameTable } from '@svc/model/name-table';
import {
  COUNT_PREFIX,
  KEY_QUERY,
  type RowPage,
  type RowQuery,
  type SharedViews,
} from '@svc/model/view';
import { monotonicMs, SharedView } from './shared-view.ts';
import type { DeclaredQuery, DeclaredView } from './view-definitions.ts';
import { viewBehind, viewBuilding, viewStopped } from './view-failures.ts';

/** Number of records from which on a query does not wait until a view is built. */
const SOON_BUILT_RECORDS = 10_000;
/** Maximum UTF-16 units of a query's parameters. */
const INPUT_UNITS_MAX = 64 * 1024;

/** KEY_QUERY as if it were declared. */
const BY_KEY: DeclaredQuery = {
  plan: { index: 'key', equals: [], descending: false },
  parameters: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
};

export interface ViewFinderNeeds {
  readonly descriptor: Pick<ModuleDescriptor, 'entities' | 'types'>;
  readonly views: readonly DeclaredView[];
  readonly shared: SharedViews;
  readonly store: Pick<ViewStore, 'reader'>;
  readonly positions: Positions;
  /** How long a query waits, in milliseconds. */
  readonly waitMs: number;
  /** The clock by which it waits; absent: the machine's. */
  readonly clock?: ServiceClock | undefined;
}

interface QueriedView {
  readonly declared: DeclaredView;
  readonly shared: SharedView;
  readonly reader: ViewReader;
  /** Rows of a former definition, which have been read. */
  former: FormerView | undefined;
}

/** The position before which rows have to have all events, and how long they are waited for. */
interface Wanted {
  readonly after: Position | undefined;
  /** Time of the monotonic clock. */
  readonly untilMs: number;
}

interface FormerView {
  readonly definition: string;
  readonly reader: ViewReader;
  readonly asOfMs: number;
}

/** Reads rows. `asOfMs`: up to when they have events; undefined: they are current. */
type Read = (reader: ViewReader, asOfMs: number | undefined) => Awaitable<RowPage>;

/** A view, and how a query reads its rows. */
interface AskedView {
  readonly view: QueriedView;
  readonly read: Read;
}

type Values = Readonly<Record<string, unknown>>;

export class ViewFinder {
  readonly positions: Positions;
  readonly #views: NameTable<QueriedView>;
  readonly #queried: readonly QueriedView[];
  readonly #store: Pick<ViewStore, 'reader'>;
  readonly #types: ModuleDescriptor['types'];
  /** Names of the commands, by component. */
  readonly #commands: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #waitMs: number;
  readonly #clock: ServiceClock | undefined;

  constructor({ descriptor, views, shared, store, positions, waitMs, clock }: ViewFinderNeeds) {
    this.#clock = clock;
    this.positions = positions;
    this.#types = descriptor.types;
    this.#waitMs = waitMs;
    this.#commands = new Map(
      descriptor.entities.map(({ component, commands }) => [
        component,
        new Set(commands.map(({ name }) => name)),
      ]),
    );
    const queried = views.map((declared) => ({
      declared,
      shared: new SharedView(shared[declared.folded.id]),
      reader: store.reader(declared.folded.stored),
      former: undefined,
    }));
    this.#views = new NameTable(queried.map((view) => [view.declared.folded.id, view] as const));
    this.#queried = queried;
    this.#store = store;
  }

  /** Returns whether a call of an entity may store events. */
  isCommand(component: string, name: string): boolean {
    return this.#commands.get(component)?.has(name) ?? false;
  }

  /** Returns whether the rows of all views that follow the journal have everything before `after`. */
  haveReached(after: Position): boolean {
    return this.#queried.every(
      ({ shared }) => shared.state !== 'live' || this.#hasReached(shared, after),
    );
  }

  /**
   * Finds rows as `HostCalls.find` does. `after`: a position before which the rows have to have all events; undefined: any
   * rows will do. `isRequired`: false if rows of a former definition will do all the same while the view is built.
   * Rejects with SVC_VIEW_BEHIND, SVC_VIEW_REBUILDING, SVC_VIEW_STOPPED, SVC_VIEW_CORRUPT and SVC_DATA_UNUSABLE.
   */
  async find(
    query: RowQuery,
    after: Position | undefined,
    isRequired = after !== undefined,
  ): Promise<RowPage | Refusal> {
    const asked = this.#asked(query);
    if ('kind' in asked) return asked;
    const { view, read } = asked;
    try {
      const wanted = { after, untilMs: monotonicMs(this.#clock) + this.#waitMs };
      const former = isRequired ? undefined : await this.#fromFormer(view, wanted, read);
      if (former !== undefined) return former;
      await this.#readable(view, wanted);
      return await this.#fromOwn(view, read);
    } catch (error) {
      return this.#refusedBy(error, view);
    }
  }

  /**
   * Finds rows as `find` does if the view is live and its rows have all events before `after`. Otherwise, and if they cannot be
   * read, returns undefined: `find` waits for the rows, or fails.
   */
  findAtOnce(query: RowQuery, after: Position | undefined): RowPage | Refusal | undefined {
    const asked = this.#asked(query);
    if ('kind' in asked) return asked;
    const { shared, former, reader } = asked.view;
    if (shared.state !== 'live' || former !== undefined) return undefined;
    if (!this.#hasReached(shared, after)) return undefined;
    try {
      const page = asked.read(reader, undefined);
      return page instanceof Promise ? undefined : page;
    } catch (error) {
      return isRefusedQuery(error) ? badRequest(error) : undefined;
    }
  }

  /** Returns how the rows of a query are read, or the refusal of a query that is wrong. */
  #asked({ view: id, query, input, limit, cursor }: RowQuery): AskedView | Refusal {
    const view = this.#views.get(id);
    if (view === undefined) return refusal('NOT_FOUND', `the service has no view ${quoted(id)}`);
    const name = query.startsWith(COUNT_PREFIX) ? query.slice(COUNT_PREFIX.length) : query;
    const declared = query === KEY_QUERY ? BY_KEY : view.declared.queries.get(name);
    if (declared === undefined)
      return refusal('NOT_FOUND', `the view '${id}' has no query ${quoted(name)}`);
    const parameters = this.#parameters(declared, input);
    if ('problem' in parameters)
      return refusal(
        'BAD_REQUEST',
        `the parameters of the query '${query}' of the view '${id}' do not fit: ${parameters.problem}`,
      );
    if (cursor !== undefined && (query === KEY_QUERY || name !== query))
      return refusal('BAD_REQUEST', `'${query}' has one answer, and no second page`);
    const { values } = parameters;
    const asked: ViewQuery = { plan: declared.plan, parameters: values };
    if (query === KEY_QUERY)
      return {
        view,
        read: (reader, asOfMs) =>
          mapped(reader.get(values['key'] as string), (row) => ({
            rows: row === undefined ? [] : [row.json],
            cursor: undefined,
            asOfMs,
          })),
      };
    if (name !== query)
      return {
        view,
        read: (reader, asOfMs) =>
          mapped(reader.count(asked), (counted) => ({
            rows: [JSON.stringify(counted)],
            cursor: undefined,
            asOfMs,
          })),
      };
    return {
      view,
      read: (reader, asOfMs) =>
        mapped(reader.find(asked, limit, cursor), ({ rows, cursor: next }) => ({
          rows: rows.map(({ json }) => json),
          cursor: next,
          asOfMs,
        })),
    };
  }

  /**
   * Reads rows of a former definition. Returns undefined if the view itself can be queried, and if there are no such
   * rows. Rows that will soon be built are waited for if they are to have what the caller has just stored.
   */
  async #fromFormer(view: QueriedView, wanted: Wanted, read: Read): Promise<RowPage | undefined> {
    const { shared } = view;
    if (shared.state === 'live' && view.former === undefined) return undefined;
    if (shared.state === 'starting')
      await shared.reached(({ state }) => state !== 'starting', wanted.untilMs, this.#clock);
    if (wanted.after !== undefined && shared.former !== '') await this.#decided(shared, wanted);
    const former = await this.#former(view);
    if (former === undefined) return undefined;
    try {
      return await read(former.reader, former.asOfMs);
    } catch (error) {
      if (isRefusedQuery(error)) throw error;
      // They lack the index of the query, or are damaged.
      return undefined;
    }
  }

  /** Returns the rows of a former definition that stand in for those of the view. */
  async #former(view: QueriedView): Promise<FormerView | undefined> {
    const definition = view.shared.state === 'live' ? '' : view.shared.former;
    if (view.former !== undefined && view.former.definition !== definition) {
      view.former.reader.close();
      view.former = undefined;
    }
    if (definition === '' || view.former !== undefined) return view.former;
    const reader = this.#store.reader({ ...view.declared.folded.stored, definition });
    const status = await reader.status();
    // Another query has opened it meanwhile.
    if (view.former !== undefined || status.state !== 'live') {
      reader.close();
      return view.former;
    }
    view.former = { definition, reader, asOfMs: status.foldedTo?.latestMs ?? 0 };
    return view.former;
  }

  /** Reads the view's own rows. Damaged rows are built again. */
  async #fromOwn(view: QueriedView, read: Read): Promise<RowPage> {
    const { reader, shared } = view;
    try {
      return await read(reader, await this.#asOfMs(view));
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    // The rows may be new since the reader has looked where they are.
    await reader.status();
    try {
      return await read(reader, await this.#asOfMs(view));
    } catch (error) {
      if (isDamage(error)) shared.reportDamage();
      throw error;
    }
  }

  /** Returns up to when the rows of a view have events that has stopped; undefined: it follows the events. */
  async #asOfMs({ reader, shared }: QueriedView): Promise<number | undefined> {
    if (shared.state !== 'stopped') return undefined;
    const status = await reader.status();
    return status.state === 'missing' ? undefined : (status.foldedTo?.latestMs ?? 0);
  }

  close(): void {
    for (const { reader, former } of this.#queried) {
      reader.close();
      former?.reader.close();
    }
  }

  /** Resolves once the rows have all events before `after`. Rejects when they do not in time. */
  async #readable({ declared, shared }: QueriedView, wanted: Wanted): Promise<void> {
    await this.#decided(shared, wanted);
    const { id } = declared.folded;
    const { state } = shared;
    if (state === 'building') throw viewBuilding(id, this.#percentBuilt(shared), shared.isPaused);
    if (this.#hasReached(shared, wanted.after)) return;
    throw state === 'stopped' ? viewStopped(id) : viewBehind(id, this.#waitMs);
  }

  /** Resolves when waiting longer would change nothing, or the time is over. */
  async #decided(shared: SharedView, wanted: Wanted): Promise<void> {
    const isDecided = () =>
      shared.state === 'stopped' ||
      (shared.state === 'live' && this.#hasReached(shared, wanted.after)) ||
      (shared.state === 'building' && this.#recordsLeft(shared) > SOON_BUILT_RECORDS);
    if (isDecided()) return;
    shared.hurry();
    await shared.reached(isDecided, wanted.untilMs, this.#clock);
  }

  #hasReached(shared: SharedView, after: Position | undefined): boolean {
    if (after === undefined) return true;
    const { position } = shared;
    return position !== '' && this.positions.hasReached(position, after);
  }

  #recordsLeft({ position }: SharedView): number {
    const { positions } = this;
    return positions.count(position === '' ? positions.start : position, positions.end());
  }

  #percentBuilt(shared: SharedView): number {
    const { positions } = this;
    const all = positions.count(positions.start, positions.end());
    return all === 0 ? 0 : Math.floor(100 * Math.max(0, 1 - this.#recordsLeft(shared) / all));
  }

  /** Returns the refusal of what a caller did wrong; throws everything else. */
  #refusedBy(error: unknown, { declared, shared }: QueriedView): Refusal {
    if (!(error instanceof SvcError)) throw error;
    if (isRefusedQuery(error)) return badRequest(error);
    // It has stopped before its rows were built.
    if (error.code === 'SVC_VIEW_REBUILDING' && shared.state === 'stopped')
      throw viewStopped(declared.folded.id);
    throw error;
  }

  #parameters(
    { parameters }: DeclaredQuery,
    input: string,
  ): { readonly values: Values } | { readonly problem: string } {
    if (input.length > INPUT_UNITS_MAX)
      return { problem: `they have more than ${INPUT_UNITS_MAX} characters` };
    let value: unknown;
    try {
      value = JSON.parse(input);
    } catch {
      return { problem: 'they are not JSON' };
    }
    if (parameters === undefined)
      return value === null || isRecord(value)
        ? { values: {} }
        : { problem: 'the query has no parameters: pass {}' };
    const problem = jsonMismatch(value, parameters, this.#types);
    return problem === undefined
      ? { values: this.#byField(value as Values, parameters) }
      : { problem };
  }

  /** Returns the values by the names of their fields: a value may have been given under an alias. */
  #byField(given: Values, parameters: TypeSchema): Values {
    const { properties, aliases = {} } = recordOf(parameters, this.#types)!;
    return Object.fromEntries(
      Object.keys(properties).flatMap((field) => {
        const names = Object.hasOwn(aliases, field) ? [field, ...aliases[field]!] : [field];
        const name = names.find((candidate) => Object.hasOwn(given, candidate));
        return name === undefined ? [] : [[field, given[name]]];
      }),
    );
  }
}

/** Returns `map` of a value, at once if the value is there. */
function mapped<T, Next>(value: Awaitable<T>, map: (value: T) => Next): Awaitable<Next> {
  return value instanceof Promise ? value.then(map) : map(value);
}

type RefusedQuery = SvcError & { readonly code: 'SVC_FIND_INVALID' | 'SVC_CURSOR_INVALID' };

function badRequest({ message }: RefusedQuery): Refusal {
  return refusal('BAD_REQUEST', message);
}

/** Whether the caller has asked for what no rows could answer. */
function isRefusedQuery(error: unknown): error is RefusedQuery {
  if (!(error instanceof SvcError)) return false;
  return error.code === 'SVC_FIND_INVALID' || error.code === 'SVC_CURSOR_INVALID';
}

function isDamage(error: unknown): boolean {
  return error instanceof SvcError && error.code === 'SVC_VIEW_CORRUPT';
}

function isRecord(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
