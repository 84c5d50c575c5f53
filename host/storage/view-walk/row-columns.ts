// RowColumns takes the values of indexed fields out of the JSON texts of rows, and checks rows against the limits.
import type { ColumnKind } from '@svc/contract';
import { SvcError } from '@svc/kit/svc-error';
import type { ViewRow } from '../../engine/needs/views.ts';
import type { ViewLimits } from '@svc/model/view-limits';
import { type ColumnValue, columnValue } from './column-value.ts';
import type { WalkColumn } from './walk.ts';

/** A field that has a column. */
export interface FieldColumn {
  readonly field: string;
  readonly kind: ColumnKind;
}

/** Maximum number of bytes that a UTF-16 unit takes in UTF-8. */
const BYTES_PER_UNIT_MAX = 3;

/** Returns a row's values of the columns. Throws SVC_VIEW_ROW_INVALID for a row that no view may have. */
export function valuesOf(
  { key, json }: ViewRow,
  columns: readonly FieldColumn[],
  { keyBytesMax }: ViewLimits,
): readonly ColumnValue[] {
  if (columns.length === 0) return [];
  const row = fieldsOf(json);
  if (row === undefined) throw rowInvalid(key, 'is not a JSON object');
  return columns.map(({ field, kind }) => {
    const value = columnValue(kind, Object.hasOwn(row, field) ? row[field] : null);
    if (value === undefined)
      throw rowInvalid(
        key,
        `has a field ${JSON.stringify(field)} that is not of the kind '${kind}'`,
      );
    if (isLonger(value, keyBytesMax))
      throw rowInvalid(
        key,
        `has more than ${keyBytesMax} bytes in the indexed field ${JSON.stringify(field)} ` +
          '(svc.views.key-bytes-max)',
      );
    return value;
  });
}

/** Returns a stored row's values of the last columns of a walk. */
export function positionOfRow(
  row: ViewRow,
  columns: readonly WalkColumn[],
  limits: ViewLimits,
): readonly ColumnValue[] {
  const fields = columns.filter((column): column is FieldColumn => column.field !== undefined);
  const values = valuesOf(row, fields, { ...limits, keyBytesMax: Infinity });
  return [...values, row.key];
}

/** Throws SVC_VIEW_ROW_INVALID if a key or a row exceeds a limit. */
export function checkSizes(
  key: string,
  json: string | undefined,
  { keyBytesMax, rowBytesMax }: ViewLimits,
): void {
  if (!key.isWellFormed()) throw rowInvalid(key, 'has half of a surrogate pair in its key');
  if (isLonger(key, keyBytesMax))
    throw rowInvalid(key, `has a key of more than ${keyBytesMax} bytes (svc.views.key-bytes-max)`);
  if (json !== undefined && isLonger(json, rowBytesMax))
    throw rowInvalid(key, `has more than ${rowBytesMax} bytes (svc.views.row-bytes-max)`);
}

/** Throws SVC_FIND_INVALID for a key that no row can have. */
export function checkKey(key: string, { keyBytesMax }: ViewLimits): void {
  if (key.isWellFormed() && !isLonger(key, keyBytesMax)) return;
  throw new SvcError(
    'SVC_FIND_INVALID',
    `A row's key is a text of Unicode with at most ${keyBytesMax} bytes. Give the key of a row.`,
  );
}

/** Throws SVC_FIND_INVALID for a number of rows that a page cannot have. */
export function checkLimit(limit: number, { pageRowsMax }: ViewLimits): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= pageRowsMax) return;
  throw new SvcError(
    'SVC_FIND_INVALID',
    `A page cannot have ${limit} rows. Give a limit from 1 to ${pageRowsMax} (svc.views.page-rows-max).`,
  );
}

function fieldsOf(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const row: unknown = JSON.parse(json);
    return typeof row === 'object' && row !== null && !Array.isArray(row)
      ? (row as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}

function isLonger(value: ColumnValue, bytesMax: number): boolean {
  if (typeof value !== 'string' || value.length * BYTES_PER_UNIT_MAX <= bytesMax) return false;
  return Buffer.byteLength(value) > bytesMax;
}

/** `what` is read after "The row KEY". */
export function rowInvalid(key: string, what: string): SvcError {
  const shown = key.length > KEY_UNITS_SHOWN ? `${key.slice(0, KEY_UNITS_SHOWN)}…` : key;
  return new SvcError(
    'SVC_VIEW_ROW_INVALID',
    `The row ${JSON.stringify(shown)} ${what}. Change what the view makes of its events, and run the new version.`,
  );
}

const KEY_UNITS_SHOWN = 100;
