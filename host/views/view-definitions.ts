// ViewDefinitions: the views that a module or a program declares, as the host folds and queries them.
//
// The definition of a view is everything that its rows depend on: while it stays the same, rows that are stored are used
// again. Indexes and queries are not part of it.
import assert from 'node:assert';
import { hash } from 'node:crypto';
import {
  type ModuleDescriptor,
  type TypeSchema,
  type ViewDescriptor,
  type ViewQueryPlan,
  fieldColumn,
  planViewQuery,
  recordOf,
} from '@svc/contract';
import type { StoredView } from '../engine/needs/views.ts';
import { NameTable } from '@svc/model/name-table';
import type { FoldedView } from './folded-view.ts';

/** Number of the way in which the host stores and folds rows: with another number, all rows are folded again. */
const FORMAT = 1;
const REFERENCE_PREFIX = '#/types/';

/** A view with its queries, by their names. */
export interface DeclaredView {
  readonly folded: FoldedView;
  readonly queries: NameTable<DeclaredQuery>;
}

export interface DeclaredQuery {
  readonly plan: ViewQueryPlan;
  /** A record of scalars; undefined: the query has no parameters. */
  readonly parameters: TypeSchema | undefined;
}

type Types = ModuleDescriptor['types'];

/** Returns the views of a descriptor that was checked. `fingerprint`: that of the code that folds them. */
export function declaredViews(
  { views = [], types }: Pick<ModuleDescriptor, 'views' | 'types'>,
  fingerprint: string | undefined,
): readonly DeclaredView[] {
  return views.map((view) => ({
    folded: {
      id: view.id,
      sources: new Set(view.sources),
      hasKeys: view.computesKeys === true,
      stored: storedView(view, types, fingerprint),
    },
    queries: new NameTable(
      view.queries.map(({ name, where, parameters }) => {
        const planned = planViewQuery(where, parameters, view, types);
        assert(planned.ok, `a query without a plan was admitted: ${view.id} ${name}`);
        return [name, { plan: planned.plan, parameters }] as const;
      }),
    ),
  }));
}

function storedView(
  view: ViewDescriptor,
  types: Types,
  fingerprint: string | undefined,
): StoredView {
  const row = recordOf(view.row, types);
  assert(row !== undefined, `a view whose row is no record was admitted: ${view.id}`);
  const indexes = view.indexes.map((fields) =>
    fields.map((field) => {
      const found = fieldColumn(row, field, types);
      assert(found.ok, `an index without an order was admitted: ${view.id} ${field}`);
      return { field, type: found.column };
    }),
  );
  const definition = definitionOf(view, types, fingerprint);
  return { id: view.id, rowType: rowTypeOf(view, types), definition, indexes };
}

/** Returns a hash of the type of the rows. */
function rowTypeOf({ row }: ViewDescriptor, types: Types): string {
  return hashOf([row, typesReached(row, types)]);
}

/** Returns the hash of everything that the rows depend on. Views with different ids have different definitions. */
function definitionOf(
  { id, sources, row, computesKeys, definition }: ViewDescriptor,
  types: Types,
  fingerprint: string | undefined,
): string {
  const code = definition === undefined ? ['module', fingerprint] : ['declared', definition];
  const reached = typesReached(row, types);
  return hashOf([FORMAT, id, sources.toSorted(), computesKeys === true, row, reached, code]);
}

function hashOf(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts, withoutDescription), 'hex');
}

/** Returns the types that a type refers to, with their names. */
function typesReached(type: TypeSchema, types: Types): readonly unknown[] {
  return [...reachedTypes(type, types)].toSorted().map((name) => [name, types[name]]);
}

/** Leaves out the descriptions of types, which change no row. A field of this name is an object, and stays. */
function withoutDescription(name: string, value: unknown): unknown {
  return name === 'description' && typeof value === 'string' ? undefined : value;
}

/** Returns the names of the types that a type refers to, directly or by others. */
function reachedTypes(type: TypeSchema, types: Types): ReadonlySet<string> {
  const reached = new Set<string>();
  const waiting: unknown[] = [type];
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (typeof node !== 'object' || node === null) continue;
    const reference: unknown = '$ref' in node ? node.$ref : undefined;
    if (typeof reference === 'string' && reference.startsWith(REFERENCE_PREFIX)) {
      const name = reference.slice(REFERENCE_PREFIX.length);
      if (!reached.has(name)) waiting.push(types[name]);
      reached.add(name);
    } else waiting.push(...Object.values(node));
  }
  return reached;
}
