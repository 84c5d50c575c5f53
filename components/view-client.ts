// ViewClient: typed queries of a view by its definition: `view(orders).ofCustomer({ customer }, 50)`.
import type { HostCalls } from '@svc/model/guest';
import type { Refusal } from '@svc/model/call';
import { COUNT_PREFIX, KEY_QUERY, type RowPage } from '@svc/model/view';
import { type Schema, STORED_DEPTH_MAX, type ValueOf } from './codec.ts';
import { Ok, type Result, refusedBy } from './result.ts';
import type { ViewDefinition, ViewQueryDefinition } from './view-definition.ts';

/** Rows of a page if the caller does not say. */
const LIMIT_DEFAULT = 100;

/** Rows that a query has found, in its order. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Pass it to the same query to get the next page; undefined: this is the last one. */
  readonly cursor: string | undefined;
  /**
   * Milliseconds since 1970-01-01T00:00:00Z, while a new definition of the view is being built, and while the view has
   * stopped: the rows have no events after this time. Undefined: the rows are current.
   */
  readonly asOfMs: number | undefined;
}

/** The row of a key. */
export interface FoundRow<Row> {
  /** Undefined: there is no row of this key. */
  readonly row: Row | undefined;
  /** As in a Page. */
  readonly asOfMs: number | undefined;
}

/** The number of rows that a query finds. */
export interface RowCount {
  /** The number of rows, or 10,000 if there are more. */
  readonly count: number;
  readonly hasMore: boolean;
  /** As in a Page. */
  readonly asOfMs: number | undefined;
}

/**
 * Has a method for each query of a view. `limit`: the most rows of the page, from 1 to 1,000; 100 if absent. `cursor`: that
 * of the page before. `get` finds the row of a key, and `count` counts the rows of a query up to 10,000. A method resolves to a refusal for a wrong cursor. It rejects with a CodecProblem (a TypeError) if
 * the parameters do not fit their schema, and with an SvcError if the query failed.
 */
export type ViewClient<Definition> =
  Definition extends ViewDefinition<infer Row, infer Queries>
    ? {
        readonly [Key in keyof Queries]: (
          ...query: [...QueryParameters<Queries[Key]>, limit?: number, cursor?: string]
        ) => Promise<Result<Page<Row>>>;
      } & {
        get(key: string): Promise<Result<FoundRow<Row>>>;
        count<Key extends keyof Queries>(
          query: Key,
          ...parameters: QueryParameters<Queries[Key]>
        ): Promise<Result<RowCount>>;
      }
    : never;

type QueryParameters<Query> = Query extends Schema ? [parameters: ValueOf<Query>] : [];

type ClientClass = new (calls: Finder) => object;
type Finder = Pick<HostCalls, 'find'>;

/** Client classes, one for each definition. */
const classes = new WeakMap<ViewDefinition, ClientClass>();

/** Returns the client, which has the methods of `ViewClient` for the definition. */
export function viewClient(definition: ViewDefinition, calls: Finder): object {
  let Client = classes.get(definition);
  if (Client === undefined) {
    Client = clientClass(definition);
    classes.set(definition, Client);
  }
  return new Client(calls);
}

function clientClass({ id, row, queries }: ViewDefinition): ClientClass {
  class Client {
    readonly #calls: Finder;

    constructor(calls: Finder) {
      this.#calls = calls;
    }

    async #find(
      query: string,
      input: string,
      limit = LIMIT_DEFAULT,
      cursor?: string,
    ): Promise<Result<Page<unknown>>> {
      if (!Number.isInteger(limit) || limit < 1)
        throw new RangeError(`limit is a whole number from 1 on, found ${limit}`);
      const page = await this.#ask(query, input, limit, cursor);
      if ('code' in page) return refusedBy(page);
      const rows = page.rows.map((json) => row.decode(json, 'row', STORED_DEPTH_MAX));
      return new Ok({ rows, cursor: page.cursor, asOfMs: page.asOfMs });
    }

    async get(key: string): Promise<Result<FoundRow<unknown>>> {
      const found = await this.#find(KEY_QUERY, JSON.stringify({ key }), 1);
      if (!found.isOk) return found;
      const { rows, asOfMs } = found.value;
      return new Ok({ row: rows[0], asOfMs });
    }

    async count(key: string, given?: unknown): Promise<Result<RowCount>> {
      const query = queries.find((one) => one.key === key);
      if (query === undefined) throw new TypeError(`view '${id}' has no query '${key}'`);
      const input = query.parameters?.encode(given, 'parameters') ?? '{}';
      const page = await this.#ask(COUNT_PREFIX + query.name, input, 1, undefined);
      if ('code' in page) return refusedBy(page);
      const counted = JSON.parse(page.rows[0]!) as Omit<RowCount, 'asOfMs'>;
      return new Ok({ ...counted, asOfMs: page.asOfMs });
    }

    async #ask(...query: [string, string, number, string | undefined]): Promise<RowPage | Refusal> {
      const { find } = this.#calls;
      if (find === undefined) throw new Error(`view '${id}' is not served here`);
      return find.call(this.#calls, id, ...query);
    }

    /** Adds the method of a query to the class. */
    static add({ key, name, parameters }: ViewQueryDefinition): void {
      // The methods are async, so that problems of the parameters reject like those of a call's input.
      const value =
        parameters === undefined
          ? async function (this: Client, limit?: number, cursor?: string) {
              return this.#find(name, '{}', limit, cursor);
            }
          : async function (this: Client, given: unknown, limit?: number, cursor?: string) {
              return this.#find(name, parameters.encode(given, 'parameters'), limit, cursor);
            };
      Object.defineProperty(Client.prototype, key, { value });
    }
  }
  for (const query of queries) Client.add(query);
  return Client;
}
