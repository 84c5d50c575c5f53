// Walk: a query's plan with the values of its parameters, and the position after which a page begins. It has two bounds and
// no conditions to evaluate: every row between the bounds belongs to the result.
import type { ColumnBound, ColumnKind, ColumnRange } from '@svc/contract';
import { SvcError } from '@svc/kit/svc-error';
import type { StoredView, ViewQuery } from '../../engine/needs/views.ts';
import { type ColumnValue, NULL_VALUE, afterPrefix, columnValue } from './column-value.ts';

/** A column of a walk: a field of an index, or the row's key, which is the last column of each walk. */
export interface WalkColumn {
  /** Undefined: the key. */
  readonly field: string | undefined;
  readonly kind: ColumnKind;
}

export interface Bound {
  /** Values of the columns after those of `equals`, from the first on. */
  readonly values: readonly ColumnValue[];
  readonly isInclusive: boolean;
}

export interface Walk {
  readonly columns: readonly WalkColumn[];
  readonly equals: readonly ColumnValue[];
  readonly lower: Bound | undefined;
  readonly upper: Bound | undefined;
  readonly descending: boolean;
  /** Whether no row fits, because a parameter of the range, or the one for the key, is null. */
  readonly isEmpty: boolean;
}

/** Returns the columns of an index; without an index, those of a walk of the keys. */
export function walkColumns(view: StoredView, index: number | 'key'): readonly WalkColumn[] {
  const fields = index === 'key' ? [] : view.indexes[index]!;
  return [
    ...fields.map(({ field, type }) => ({ field, kind: type.kind })),
    { field: undefined, kind: 'text' },
  ];
}

/** Throws SVC_FIND_INVALID if a parameter is not of the type of its column. */
export function walkOf(view: StoredView, { plan, parameters }: ViewQuery): Walk {
  const columns = walkColumns(view, plan.index);
  const valueOf = (name: string, { kind }: WalkColumn): ColumnValue => {
    const given = Object.hasOwn(parameters, name) ? parameters[name] : null;
    const value = columnValue(kind, given);
    if (value === undefined)
      throw new SvcError(
        'SVC_FIND_INVALID',
        `The parameter ${JSON.stringify(name)} of the query is not of the kind '${kind}'. Give a value of the ` +
          'type of the field that it is compared with.',
      );
    return value;
  };
  const equals = plan.equals.map((name, at) => valueOf(name, columns[at]!));
  const { range, descending } = plan;
  // No row has null as its key.
  const isEmpty = equals.length === columns.length && equals.at(-1) === NULL_VALUE;
  const walk = { columns, equals, lower: undefined, upper: undefined, descending, isEmpty };
  if (range === undefined) return walk;
  const column = columns[equals.length]!;
  const bounds = boundsOf(range, (name) => valueOf(name, column));
  // A row whose column is null is in no range.
  const lower = bounds.lower ?? (column.field === undefined ? undefined : AFTER_NULL);
  return { ...walk, ...bounds, lower };
}

const AFTER_NULL: Bound = { values: [NULL_VALUE], isInclusive: false };

function boundsOf(
  range: ColumnRange,
  valueOf: (name: string) => ColumnValue,
): Pick<Walk, 'lower' | 'upper' | 'isEmpty'> {
  if (range.kind === 'prefix') {
    const prefix = valueOf(range.parameter);
    if (typeof prefix !== 'string') return { lower: undefined, upper: undefined, isEmpty: true };
    const end = afterPrefix(prefix);
    const upper = end === undefined ? undefined : { values: [end], isInclusive: false };
    return { lower: { values: [prefix], isInclusive: true }, upper, isEmpty: false };
  }
  const boundOf = (bound: ColumnBound | undefined): Bound | undefined =>
    bound && { values: [valueOf(bound.parameter)], isInclusive: bound.isInclusive };
  const lower = boundOf(range.lower);
  const upper = boundOf(range.upper);
  const isEmpty = [lower, upper].some((bound) => bound?.values[0] === NULL_VALUE);
  return { lower, upper, isEmpty };
}

/** Returns the walk that goes on after a row with these values of the columns after those of `equals`. */
export function after(walk: Walk, position: readonly ColumnValue[]): Walk {
  const bound = { values: position, isInclusive: false };
  return walk.descending ? { ...walk, upper: bound } : { ...walk, lower: bound };
}
