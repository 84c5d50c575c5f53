// ViewLayout says which columns and indexes the table of a view's rows has beside the key. Their names are made of numbers, which
// are given once in the life of a table: no text of a descriptor, a module or a caller is part of a statement.
import type { StoredView, ViewIndex } from '../../../engine/needs/views.ts';
import type { FieldColumn } from '../../view-walk/row-columns.ts';

export interface LayoutColumn extends FieldColumn {
  readonly no: number;
  /** Whether all rows have their values. Until then, the rows up to `ViewLayout.filledTo` have them, and rows written since. */
  readonly isFilled: boolean;
}

export interface LayoutIndex {
  readonly no: number;
  /** Numbers of columns. The key follows them. */
  readonly columns: readonly number[];
}

export interface ViewLayout {
  readonly columns: readonly LayoutColumn[];
  readonly indexes: readonly LayoutIndex[];
  /** The number that the next column or index is given. */
  readonly nextNo: number;
  /** The key of the last row for which columns that are not filled have values; null: none has. */
  readonly filledTo: string | null;
}

/** Returns the layout of a table without rows: the columns of the declared indexes. The indexes are made later. */
export function emptyLayout(view: StoredView): ViewLayout {
  const none = { columns: [], indexes: [], nextNo: 0, filledTo: null };
  const layout = withColumns(none, view);
  return { ...layout, columns: layout.columns.map((column) => ({ ...column, isFilled: true })) };
}

/** Adds a column for each declared field that has none. */
export function withColumns(layout: ViewLayout, view: StoredView): ViewLayout {
  const columns = [...layout.columns];
  let { nextNo } = layout;
  for (const { field, type } of view.indexes.flat())
    if (!columns.some((column) => column.field === field && column.kind === type.kind))
      columns.push({ field, kind: type.kind, no: nextNo++, isFilled: false });
  if (nextNo === layout.nextNo) return layout;
  return { ...layout, columns, nextNo, filledTo: null };
}

/** Leaves out an index, and the columns that neither a declared index nor another one has. */
export function withoutIndex(layout: ViewLayout, no: number, view: StoredView): ViewLayout {
  const indexes = layout.indexes.filter((index) => index.no !== no);
  const declared = view.indexes.flat();
  const columns = layout.columns.filter(
    (column) =>
      indexes.some((index) => index.columns.includes(column.no)) ||
      declared.some(({ field, type }) => column.field === field && column.kind === type.kind),
  );
  return { ...layout, columns, indexes };
}

/** Adds an index over these columns. */
export function withIndex(layout: ViewLayout, columns: readonly number[]): ViewLayout {
  const no = layout.nextNo;
  return { ...layout, indexes: [...layout.indexes, { no, columns }], nextNo: no + 1 };
}

/** Returns the numbers of an index's columns; undefined if the layout lacks one. */
export function columnNumbers(layout: ViewLayout, index: ViewIndex): readonly number[] | undefined {
  const numbers = index.map(
    ({ field, type }) =>
      layout.columns.find((column) => column.field === field && column.kind === type.kind)?.no,
  );
  return numbers.includes(undefined) ? undefined : (numbers as number[]);
}

/** Returns the index of the table that a declared index is; undefined if it is not made. */
export function madeIndex(layout: ViewLayout, index: ViewIndex): LayoutIndex | undefined {
  const columns = columnNumbers(layout, index)?.join();
  return layout.indexes.find((made) => made.columns.join() === columns);
}

/** Returns an index of the table that the view does not declare; undefined if there is none. */
export function undeclaredIndex(layout: ViewLayout, view: StoredView): LayoutIndex | undefined {
  const declared = new Set(view.indexes.map((index) => madeIndex(layout, index)));
  return layout.indexes.find((made) => !declared.has(made));
}

/** Returns a declared index that the table does not have; undefined if there is none. */
export function missingIndex(layout: ViewLayout, view: StoredView): ViewIndex | undefined {
  return view.indexes.find((index) => madeIndex(layout, index) === undefined);
}
