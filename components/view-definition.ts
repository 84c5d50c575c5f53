// ViewDefinition: rows that are folded from the events of entities, and the queries by which handlers find them. Its types
// follow from the schemas of the row and of the parameters, and from the entities.
import { type Codec, type Schema, type ValueOf, codecOf } from './codec.ts';
import type { EntityDefinition } from './entity-definition.ts';
import type { ReadonlyDeep } from './entity-context.ts';
import { type EventContext, sourcesByComponent } from './event-source.ts';
import { invalidDefinition } from './shape.ts';
import { wireName } from './wire-name.ts';

/** The change of a row by an event. The context of `fold` creates it. */
export class RowChange<Row> {
  readonly kind: 'put' | 'remove' | 'keep';
  /** The row of `put`. */
  readonly row: ReadonlyDeep<Row> | undefined;

  constructor(kind: 'put' | 'remove' | 'keep', row?: ReadonlyDeep<Row>) {
    this.kind = kind;
    this.row = row;
  }
}

/** Context of `fold`. You can destructure its functions. */
export interface FoldContext<Row> extends EventContext {
  /** Key of the row. */
  readonly key: string;
  /** Stores the row under its key, in place of the row that is there. */
  readonly put: (row: ReadonlyDeep<Row>) => RowChange<Row>;
  /** Removes the row, if there is one. */
  readonly remove: () => RowChange<Row>;
  /** Leaves the row as it is. */
  readonly keep: () => RowChange<Row>;
}

/** An entity whose events are folded into the rows of a view. */
export interface ViewSource<Row, Event> {
  readonly entity: EntityDefinition<unknown, Event>;
  /**
   * Returns the keys of the rows that an event concerns, at most 16. Absent: the id of the entity. If no source of the
   * view has keys, the row of an entity is removed when the entity is deleted.
   */
  keys?(event: ReadonlyDeep<Event>, context: EventContext): readonly string[];
  /**
   * Folds an event into a row; `row` is undefined if there is none under the key. It must depend on nothing but its
   * parameters, and the rows must not depend on the order of events of different entities.
   */
  fold(
    row: ReadonlyDeep<Row> | undefined,
    event: ReadonlyDeep<Event>,
    context: FoldContext<Row>,
  ): RowChange<Row>;
}

type FieldOf<Row> = keyof Row & string;

/** `Events`: types of the sources' events, in order. `Queries`: schemas of the queries' parameters, by their names. */
export interface ViewSpecification<Row extends Schema, Events extends readonly unknown[], Queries> {
  /** Id of the view, in lower-case words: `orders`, `open-invoices`. */
  readonly id: string;
  /**
   * Version of the functions `keys` and `fold`. Change it when you change them: then the rows are folded again from all
   * events. The rows are also folded again when the sources or the schema of the row change.
   */
  readonly version: string;
  readonly row: Row;
  readonly from: { readonly [Index in keyof Events]: ViewSource<ValueOf<Row>, Events[Index]> };
  /** Indexes of 1 to 4 fields each, which the queries need. */
  readonly indexes?: readonly (readonly FieldOf<ValueOf<Row>>[])[];
  /** Queries, by the names of the client's methods. */
  readonly queries?: {
    readonly [Key in keyof Queries]: {
      /** `customer = :customer and placedAt >= :since order by placedAt desc`; an empty text finds all rows. */
      readonly where: string;
      /** Schema of the parameters: an object with a field for each name. Absent: the query has none. */
      readonly parameters?: Queries[Key] & Schema;
      /** Name in the descriptor; absent: derived from the query's own name, `ofCustomer` as `of-customer`. */
      readonly name?: string;
    };
  };
}

/** `Row` and `Queries` are the types of the rows and of the queries' parameters. */
export interface ViewDefinition<Row = unknown, Queries = unknown> {
  readonly id: string;
  readonly version: string;
  readonly row: Codec;
  /** The sources by their components, in the order of `from`. */
  readonly sources: ReadonlyMap<string, ViewSource<unknown, unknown>>;
  /** Whether a source has keys of its own. */
  readonly hasKeys: boolean;
  readonly indexes: readonly (readonly string[])[];
  readonly queries: readonly ViewQueryDefinition[];
  /** Carries the types for the compiler only. */
  readonly types?: { readonly row: Row; readonly queries: Queries };
}

export interface ViewQueryDefinition {
  /** Name of the query in the program; clients call it by this name. */
  readonly key: string;
  /** Name of the query in the descriptor. */
  readonly name: string;
  readonly where: string;
  readonly parameters: Codec | undefined;
}

/** Names that no query may have: with `then`, a client would be a thenable. */
const CLIENT_MEMBERS = new Set(['get', 'count', 'then', 'constructor']);

/** Views that this copy of the package has defined. */
const DEFINED = new WeakSet<object>();

/** Returns whether `defineView` of this copy of the package has made the value. */
export function isViewDefinition(value: unknown): value is ViewDefinition {
  return typeof value === 'object' && value !== null && DEFINED.has(value);
}

/** Defines a view. Throws SVC_DEFINITION_INVALID, which names the invalid part. */
export function defineView<Row extends Schema, const Events extends readonly unknown[], Queries>(
  specification: ViewSpecification<Row, Events, Queries>,
): ViewDefinition<ValueOf<Row>, Queries> {
  const { id, version, row, from, indexes = [] } = specification;
  const location = `view '${id}'`;
  // A program in JavaScript may leave the version out.
  if (typeof (version as unknown) !== 'string' || version === '')
    throw invalidDefinition(
      location,
      'it has no version',
      "Write version: '1', and change it whenever you change keys or fold, so that the rows are folded again.",
    );
  const sources = sourcesByComponent(
    from as unknown as readonly ViewSource<unknown, unknown>[],
    location,
    'from',
  );
  const view: ViewDefinition = {
    id,
    version,
    row: codecOf(row, `${location}, row`),
    sources,
    hasKeys: [...sources.values()].some((source) => source.keys !== undefined),
    indexes: indexes.map((fields) => [...fields]),
    queries: queriesOf(location, specification.queries ?? {}),
  };
  DEFINED.add(view);
  return view as ViewDefinition<ValueOf<Row>, Queries>;
}

type GivenQueries = Readonly<
  Record<
    string,
    { readonly where: string; readonly name?: string; readonly parameters?: Schema | undefined }
  >
>;

function queriesOf(location: string, queries: GivenQueries): ViewQueryDefinition[] {
  return Object.entries(queries).map(([key, { where, name = wireName(key), parameters }]) => {
    if (CLIENT_MEMBERS.has(key))
      throw invalidDefinition(location, `'${key}' is taken`, 'Give it another name.');
    return {
      key,
      name,
      where,
      parameters: parameters && codecOf(parameters, `${location}, parameters of '${key}'`),
    };
  });
}
