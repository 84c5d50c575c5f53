// ViewQueryPlan: a query of a view as one walk of one index.

/**
 * A query, checked against its view: one walk of one index, or of the keys.
 *
 * The *columns* of a walk are the fields of its index, in order, and then the row's key; a walk of the keys has the key
 * alone. So the key ends every tie, and rows have one order, which is that of all columns in one direction. The values
 * of `equals` belong to the first columns, and `range` to the column after them. A walk without a range goes over all
 * rows that fit `equals`.
 *
 * Null is before all values. A parameter of `equals` that is null fits the rows whose column is null. A range and a
 * prefix fit no row whose column is null, and with a parameter that is null they fit no row at all.
 */
export interface ViewQueryPlan {
  /** Number of the index among the indexes that the view declares, from 0. */
  readonly index: number | 'key';
  /** Names of parameters, one for each of the walk's first columns. */
  readonly equals: readonly string[];
  /** Limits the column after those of `equals`. */
  readonly range?: ColumnRange | undefined;
  /** Whether all columns of the walk run from the last to the first. */
  readonly descending: boolean;
}

/** A range has a lower bound, an upper bound or both. A prefix is of the kind `text` only. */
export type ColumnRange =
  | {
      readonly kind: 'between';
      readonly lower?: ColumnBound | undefined;
      readonly upper?: ColumnBound | undefined;
    }
  | { readonly kind: 'prefix'; readonly parameter: string };

export interface ColumnBound {
  /** Name of the parameter. */
  readonly parameter: string;
  readonly isInclusive: boolean;
}
