// ViewQueryPlanner: from the text of a query to its plan, or to what is wrong with it. A query that has a plan is one
// walk of one index: equalities for the first columns, then at most one column with a range or the order. Any other
// query would read rows that it does not return, or sort them, and is refused with the index that it needs.
import {
  type BareType,
  type NamedTypes,
  type RecordType,
  bareTypeName,
  fieldColumn,
  isPlainText,
  isSameScalar,
  recordOf,
} from './column-type.ts';
import { didYouMean } from './suggestion.ts';
import type { TypeSchema } from './type-schema.ts';
import { INDEX_FIELDS_MAX } from './view-limits.ts';
import type { ColumnBound, ColumnRange, ViewQueryPlan } from './view-query-plan.ts';
import {
  type ViewQuery,
  type ViewQueryColumn,
  type ViewQueryCondition,
  type ViewQueryOrder,
  parseViewQuery,
} from './view-query.ts';
import { type ViewQueryProblem, writtenName } from './view-query-token.ts';

/** The parts of a view that decide about its queries. */
export interface QueriedView {
  /** A record, or a reference to one. */
  readonly row: TypeSchema;
  /** The fields of each index that the view declares. */
  readonly indexes: readonly (readonly string[])[];
}

export type ViewQueryResult =
  | { readonly ok: true; readonly plan: ViewQueryPlan }
  | { readonly ok: false; readonly problem: ViewQueryProblem };

/** Maximum number of names among which the intended one of a mistyped name is looked for. */
const SUGGESTED_NAMES_MAX = 100;

/**
 * Plans a query. `parameters` is a record of scalars, or a reference to one; undefined: the query has no parameters.
 * Returns the first problem if the text does not parse, names something unknown, compares different types, leaves a
 * parameter unused, or is not one walk of a declared index.
 */
export function planViewQuery(
  where: string,
  parameters: TypeSchema | undefined,
  view: QueriedView,
  types: NamedTypes,
): ViewQueryResult {
  const query = parseViewQuery(where);
  if ('message' in query) return { ok: false, problem: query };
  const row = recordOf(view.row, types);
  if (row === undefined) return refused('the row of the view is not a record');
  const given = parameters === undefined ? NO_PARAMETERS : recordOf(parameters, types);
  if (given === undefined) return refused('the parameters are not a record');
  const typeProblem = typesProblem(query, row, given, types);
  if (typeProblem !== undefined) return { ok: false, problem: typeProblem };
  const walk = walkOf(query);
  return 'message' in walk ? { ok: false, problem: walk } : planOf(walk, view.indexes);
}

const NO_PARAMETERS: RecordType = { type: 'object', properties: {}, required: [] };

/** Checks the names and types of a query; returns the first problem. */
function typesProblem(
  { conditions, order }: ViewQuery,
  row: RecordType,
  parameters: RecordType,
  types: NamedTypes,
): ViewQueryProblem | undefined {
  const used = new Set<string>();
  for (const condition of conditions) {
    const problem = conditionProblem(condition, row, parameters, types);
    if (problem !== undefined) return problem;
    used.add(condition.parameter);
  }
  const ordered = order && comparedType(order, row, types);
  if (ordered?.ok === false) return ordered.problem;
  const unused = Object.keys(parameters.properties).find((name) => !used.has(name));
  if (unused !== undefined) return { message: `the parameter '${unused}' is not used` };
  return undefined;
}

type ComparedType =
  | { readonly ok: true; readonly type: BareType }
  | { readonly ok: false; readonly problem: ViewQueryProblem };

const KEY_TYPE: BareType = { type: 'string' };

function conditionProblem(
  condition: ViewQueryCondition,
  row: RecordType,
  parameters: RecordType,
  types: NamedTypes,
): ViewQueryProblem | undefined {
  const { column, operator, parameter, parameterOffset: offset } = condition;
  const compared = comparedType(condition, row, types);
  if (!compared.ok) return compared.problem;
  if (operator === 'starts with' && !isPlainText(compared.type))
    return {
      message: `'starts with' compares texts, and ${columnName(column)} is ${bareTypeName(compared.type)}`,
      offset: condition.offset,
    };
  if (!Object.hasOwn(parameters.properties, parameter))
    return {
      message: `the query has no parameter '${parameter}'.${suggested(parameter, parameters)}`,
      offset,
    };
  const given = fieldColumn(parameters, parameter, types);
  if (!given.ok) return { message: `the parameter '${parameter}' ${given.problem}`, offset };
  if (!isSameScalar(given.type, compared.type))
    return {
      message:
        `the parameter '${parameter}' is ${bareTypeName(given.type)}, and ` +
        `${columnName(column)} is ${bareTypeName(compared.type)}: both need the same type`,
      offset,
    };
  return undefined;
}

function comparedType(
  { column, offset }: ViewQueryCondition | ViewQueryOrder,
  row: RecordType,
  types: NamedTypes,
): ComparedType {
  if (column.kind === 'key') return { ok: true, type: KEY_TYPE };
  const { name } = column;
  if (!Object.hasOwn(row.properties, name)) {
    const message = `the row has no field '${name}'.${suggested(name, row)}`;
    return { ok: false, problem: { message, offset } };
  }
  const field = fieldColumn(row, name, types);
  if (field.ok) return { ok: true, type: field.type };
  return { ok: false, problem: { message: `the field '${name}' ${field.problem}`, offset } };
}

function suggested(name: string, { properties }: RecordType): string {
  return didYouMean(name, Object.keys(properties).slice(0, SUGGESTED_NAMES_MAX));
}

function columnName(column: ViewQueryColumn): string {
  return column.kind === 'key' ? 'the key' : `the field '${column.name}'`;
}

/** A walk that an index has to provide. Columns are named by `columnId`. */
interface Walk {
  /** Parameters by the columns that they are equal to, in the order of the text. */
  readonly equals: ReadonlyMap<string, string>;
  /** The column after those of `equals`: that of the range and of the order; undefined: any. */
  readonly next?: string | undefined;
  readonly range?: ColumnRange | undefined;
  readonly descending: boolean;
}

const KEY_COLUMN = 'key';

/** Returns a name for a column that no field and the key share. */
function columnId(column: ViewQueryColumn): string {
  return column.kind === 'key' ? KEY_COLUMN : fieldId(column.name);
}

function fieldId(field: string): string {
  return `.${field}`;
}

function walkOf({ conditions, order }: ViewQuery): Walk | ViewQueryProblem {
  const equals = new Map<string, string>();
  let ranged: { readonly column: ViewQueryColumn; readonly range: ColumnRange } | undefined;
  for (const condition of conditions) {
    const { column, operator, parameter, offset } = condition;
    const id = columnId(column);
    const isRanged = ranged !== undefined && columnId(ranged.column) === id;
    if (equals.has(id) || (isRanged && operator === '='))
      return { message: `${columnName(column)} has a condition beside '='`, offset };
    if (operator === '=') {
      equals.set(id, parameter);
      continue;
    }
    if (ranged !== undefined && !isRanged)
      return {
        message:
          `there are two ranges, of ${columnName(ranged.column)} and of ${columnName(column)}: ` +
          'a query has one. Filter by the other field in the handler, or make a view of its own for it',
        offset,
      };
    const range = rangeWith(ranged?.range, condition);
    if ('message' in range) return range;
    ranged = { column, range };
  }
  const problem = orderProblem(order, equals, ranged?.column);
  if (problem !== undefined) return problem;
  const next = ranged?.column ?? order?.column;
  return {
    equals,
    next: next && columnId(next),
    range: ranged?.range,
    descending: order?.descending ?? false,
  };
}

/** Adds a condition to the range of its column. */
function rangeWith(
  range: ColumnRange | undefined,
  { column, operator, parameter, offset }: ViewQueryCondition,
): ColumnRange | ViewQueryProblem {
  const twice = { message: `${columnName(column)} has two conditions of the same kind`, offset };
  if (operator === 'starts with')
    return range === undefined
      ? { kind: 'prefix', parameter }
      : { message: `${columnName(column)} has 'starts with' and another condition`, offset };
  if (range?.kind === 'prefix')
    return { message: `${columnName(column)} has 'starts with' and another condition`, offset };
  const bound: ColumnBound = { parameter, isInclusive: operator.endsWith('=') };
  if (operator.startsWith('<'))
    return range?.upper === undefined ? { kind: 'between', ...range, upper: bound } : twice;
  return range?.lower === undefined ? { kind: 'between', ...range, lower: bound } : twice;
}

function orderProblem(
  order: ViewQueryOrder | undefined,
  equals: ReadonlyMap<string, string>,
  ranged: ViewQueryColumn | undefined,
): ViewQueryProblem | undefined {
  if (equals.has(KEY_COLUMN) && (order ?? ranged) !== undefined)
    return { message: 'one row at most has the key: a range or an order beside it has no effect' };
  if (order === undefined) return undefined;
  const { column, offset } = order;
  if (equals.has(columnId(column)))
    return {
      message: `all rows that fit have the same value of ${columnName(column)}: order by another field or by key`,
      offset,
    };
  if (ranged !== undefined && columnId(ranged) !== columnId(column))
    return {
      message:
        `the range is of ${columnName(ranged)}, and the order is by ${columnName(column)}: ` +
        `a range gives its rows in its own order. Write 'order by ${writtenColumn(ranged)}'`,
      offset,
    };
  return undefined;
}

function writtenColumn(column: ViewQueryColumn): string {
  if (column.kind === 'key') return 'key';
  return column.name === 'key' ? '"key"' : writtenName(column.name);
}

/** Finds the shortest index that provides the walk, and of several the first. */
function planOf(walk: Walk, indexes: readonly (readonly string[])[]): ViewQueryResult {
  let best: { readonly index: number | 'key'; readonly columns: readonly string[] } | undefined;
  if (provides([KEY_COLUMN], walk)) best = { index: 'key', columns: [KEY_COLUMN] };
  for (const [index, fields] of indexes.entries()) {
    const columns = [...fields.map(fieldId), KEY_COLUMN];
    if (provides(columns, walk) && (best === undefined || columns.length < best.columns.length))
      best = { index, columns };
  }
  if (best === undefined) return missingIndex(walk);
  const equals = best.columns.slice(0, walk.equals.size).map((id) => walk.equals.get(id)!);
  return {
    ok: true,
    plan: { index: best.index, equals, range: walk.range, descending: walk.descending },
  };
}

function provides(columns: readonly string[], { equals, next }: Walk): boolean {
  const first = new Set(columns.slice(0, equals.size));
  return (
    first.size === equals.size &&
    [...first].every((id) => equals.has(id)) &&
    (next === undefined || columns[equals.size] === next)
  );
}

function missingIndex({ equals, next }: Walk): ViewQueryResult {
  const columns = next === undefined ? [...equals.keys()] : [...equals.keys(), next];
  const fields = columns.filter((id) => id !== KEY_COLUMN).map((id) => id.slice(1));
  if (fields.length > INDEX_FIELDS_MAX)
    return refused(
      `the query has conditions on ${fields.length} fields, and an index has at most ${INDEX_FIELDS_MAX}: leave some to the handler`,
    );
  const list = `[${fields.map((field) => JSON.stringify(field)).join(', ')}]`;
  return {
    ok: false,
    problem: {
      message: `no index of the view serves the query: declare the index ${list}`,
      missingIndex: fields,
    },
  };
}

function refused(message: string): ViewQueryResult {
  return { ok: false, problem: { message } };
}
