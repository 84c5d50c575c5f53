// ViewClient: typed queries of a view by its definition: `view(orders).ofCustomer({ customer }, 50)`.
import type { HostCalls } from '../../engine/needs/guest.ts';
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
   * Milliseconds since 1970-01-01T00:00:00Z, while a new definition of the view is being built: the rows have no events
   * after this time. Undefined: the rows are current.
   */
  readonly asOfMs: number | undefined;
}

/**
 * Has a method for each query of a view. `limit`: the most rows of the page, from 1 to 1,000; 100 if absent. `cursor`: that
 * of the page before. A method resolves to a refusal for a wrong cursor. It rejects with a CodecProblem (a TypeError) if
 * the parameters do not fit their schema, and with an SvcError if the query failed.
 */
export type ViewClient<Definition> =
  Definition extends ViewDefinition<infer Row, infer Queries>
    ? {
        readonly [Key in keyof Queries]: (
          ...query: Queries[Key] extends Schema
            ? [parameters: ValueOf<Queries[Key]>, limit?: number, cursor?: string]
            : [limit?: number, cursor?: string]
        ) => Promise<Result<Page<Row>>>;
      }
    : never;

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
      const { find } = this.#calls;
      if (find === undefined) throw new Error(`view '${id}' is not served here`);
      const page = await find.call(this.#calls, id, query, input, limit, cursor);
      if ('code' in page) return refusedBy(page);
      const rows = page.rows.map((json) => row.decode(json, 'row', STORED_DEPTH_MAX));
      return new Ok({ rows, cursor: page.cursor, asOfMs: page.asOfMs });
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
