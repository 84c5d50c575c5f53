// ViewCursor: the opaque text that says where the next page of a query begins. It has a digest of the definition, the
// query and the values of its parameters, and the position of the last row: its values in the columns that the query leaves
// open, and its key.
//
// A cursor carries no signature, because a forged one gives nothing away: the position only narrows the bounds of the query
// that it is given with. It is checked strictly all the same, so that a mistake is not taken for an empty page.
import { hash } from 'node:crypto';
import type { ColumnKind } from '@svc/contract';
import { SvcError } from '@svc/kit/svc-error';
import {
  type ColumnValue,
  NULL_VALUE,
  compareLists,
  compareValues,
  isOfKind,
} from './column-value.ts';
import type { Bound, Walk } from './walk.ts';

const VERSION = 1;
const DIGEST_DIGITS = 32;
/** Longest cursor, in UTF-16 units. A real one has at most five texts of `keyBytesMax`, escaped and in base64. */
const CURSOR_UNITS_MAX = 512 * 1024;

/** Returns the cursor of the page that follows a row. `position`: its values of the columns after those of `equals`. */
export function cursorAt(definition: string, walk: Walk, position: readonly ColumnValue[]): string {
  const open = openKinds(walk);
  const shown = position.map((value, at) => shownValue(open[at]!, value));
  const text = JSON.stringify([VERSION, digestOf(definition, walk), ...shown]);
  return Buffer.from(text).toString('base64url');
}

/** Returns the position of a cursor. Throws SVC_CURSOR_INVALID if it was not made for this query of this definition. */
export function positionOf(definition: string, walk: Walk, cursor: string): readonly ColumnValue[] {
  const parts = decoded(cursor);
  if (parts === undefined || parts[0] !== VERSION || parts.length < 2)
    throw invalid('it is not a cursor that a page has given');
  if (parts[1] !== digestOf(definition, walk))
    throw invalid('it is of another query, other parameters, or an earlier version of the view');
  const open = openKinds(walk);
  if (open.length === 0) throw invalid('its query has one row at most, and no second page');
  const position = parts.slice(2).map((value, at) => readValue(open[at], value));
  // The key, which is the last value, is never null.
  if (position.length !== open.length || position.includes(undefined) || parts.at(-1) === null)
    throw invalid('it is not a cursor that a page has given');
  const values = position as ColumnValue[];
  if (!isWithin(walk, values)) throw invalid('its position is not among the rows of the query');
  // Otherwise many texts would be one cursor.
  if (cursorAt(definition, walk, values) !== cursor)
    throw invalid('it is not a cursor that a page has given');
  return values;
}

function digestOf(definition: string, { columns, equals, lower, upper, descending }: Walk): string {
  const kinds = columns.map(({ kind }) => kind);
  const boundText = (bound: Bound | undefined): unknown =>
    bound && [bound.isInclusive, shownValue(kinds[equals.length]!, bound.values[0]!)];
  const text = JSON.stringify([
    definition,
    columns.map(({ field, kind }) => [field ?? null, kind]),
    equals.map((value, at) => shownValue(kinds[at]!, value)),
    boundText(lower) ?? null,
    boundText(upper) ?? null,
    descending,
  ]);
  return hash('sha256', text, 'hex').slice(0, DIGEST_DIGITS);
}

function openKinds({ columns, equals }: Walk): readonly ColumnKind[] {
  return columns.slice(equals.length).map(({ kind }) => kind);
}

function isWithin({ lower, upper, isEmpty }: Walk, position: readonly ColumnValue[]): boolean {
  if (isEmpty) return false;
  const fits = (bound: Bound | undefined, sign: 1 | -1): boolean => {
    if (bound === undefined) return true;
    const order = compareLists(position, bound.values) * sign;
    return order > 0 || (order === 0 && bound.isInclusive);
  };
  return fits(lower, 1) && fits(upper, -1);
}

function decoded(cursor: string): readonly unknown[] | undefined {
  if (cursor.length > CURSOR_UNITS_MAX) return undefined;
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(parts) ? parts : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the value as JSON has it: a 64-bit integer as a text of digits. */
function shownValue(kind: ColumnKind, value: ColumnValue): string | number | null {
  if (compareValues(value, NULL_VALUE) === 0) return null;
  return kind === 'number' ? (value as number) : String(value);
}

function readValue(kind: ColumnKind | undefined, shown: unknown): ColumnValue | undefined {
  if (kind === undefined) return undefined;
  if (shown === null) return NULL_VALUE;
  const value = kind === 'number' ? numberOf(shown) : textOf(kind, shown);
  return value !== undefined && isOfKind(kind, value) ? value : undefined;
}

function numberOf(shown: unknown): number | undefined {
  return typeof shown === 'number' ? shown : undefined;
}

function textOf(kind: ColumnKind, shown: unknown): ColumnValue | undefined {
  if (typeof shown !== 'string') return undefined;
  if (kind === 'text' || kind === 'decimal') return shown;
  return /^-?\d{1,19}$/.test(shown) ? BigInt(shown) : undefined;
}

function invalid(why: string): SvcError {
  return new SvcError(
    'SVC_CURSOR_INVALID',
    `The cursor of the page cannot be used: ${why}. Ask for the first page, without a cursor, and follow the ` +
      'cursors of its pages with the same query and parameters.',
  );
}
