// ColumnValue: a value of an indexed field in the form in which stores compare it. All values of a column compare with
// `compareValues`, and in a SQLite column without a type, in the order of their kind; null is before all of them.
import { type ColumnKind, dateTimeOf, decimalOrder, durationMsOf, isDecimal } from '@svc/contract';

export type ColumnValue = bigint | number | string;

/**
 * Stands for null. It is less than every number and every text, in JavaScript's comparison of numbers as in SQLite, so
 * that a position in an index can be compared without a case for null. It is never
 * compared with a row's key, because SQLite would compare it there as a text.
 */
export const NULL_VALUE = -Infinity;

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const DIGITS = /^-?\d{1,20}$/;

/**
 * Returns the value to compare for a field's decoded JSON value, null and undefined included; undefined if it is not of
 * the kind.
 */
export function columnValue(kind: ColumnKind, value: unknown): ColumnValue | undefined {
  if (value === null || value === undefined) return NULL_VALUE;
  switch (kind) {
    case 'boolean':
      return typeof value === 'boolean' ? BigInt(value) : undefined;
    case 'integer':
      return int64(integer(value));
    case 'uint64': {
      const whole = integer(value);
      return whole === undefined || whole < 0n ? undefined : int64(whole + INT64_MIN);
    }
    case 'number':
      // The sum turns -0, which equals 0, into 0.
      return Number.isFinite(value) ? (value as number) + 0 : undefined;
    case 'text':
    case 'decimal':
    case 'time':
    case 'duration':
      return typeof value === 'string' ? ofText(kind, value) : undefined;
  }
}

function ofText(
  kind: 'text' | 'decimal' | 'time' | 'duration',
  text: string,
): ColumnValue | undefined {
  // SQLite stores half of a surrogate pair as U+FFFD.
  if (kind === 'text') return text.toWellFormed();
  if (kind === 'decimal') return isDecimal(text) ? decimalOrder(text) : undefined;
  if (kind === 'duration') {
    const ms = durationMsOf(text);
    return ms === undefined ? undefined : BigInt(ms);
  }
  const time = dateTimeOf(text);
  return time === undefined ? undefined : BigInt(Date.parse(time));
}

/** A JSON integer: a number up to 2^53 - 1 in magnitude, and a text of digits beyond. */
function integer(value: unknown): bigint | undefined {
  if (Number.isSafeInteger(value)) return BigInt(value as number);
  return typeof value === 'string' && DIGITS.test(value) ? BigInt(value) : undefined;
}

function int64(value: bigint | undefined): bigint | undefined {
  return value === undefined || value < INT64_MIN || value > INT64_MAX ? undefined : value;
}

/** Returns whether a value is one that `columnValue` may return for the kind. */
export function isOfKind(kind: ColumnKind, value: ColumnValue): boolean {
  if (value === NULL_VALUE) return true;
  if (kind === 'number') return Number.isFinite(value);
  if (kind === 'text' || kind === 'decimal')
    return typeof value === 'string' && value.isWellFormed();
  return typeof value === 'bigint' && int64(value) !== undefined;
}

/** Compares values of one column: negative, zero or positive. Texts compare by code point. */
export function compareValues(a: ColumnValue, b: ColumnValue): number {
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  // NULL_VALUE is the only number that is compared with a text.
  if (typeof a === 'string') return 1;
  if (typeof b === 'string') return -1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Compares lists of values of the same columns, from the first to the last; a list that ends early is equal. */
export function compareLists(a: readonly ColumnValue[], b: readonly ColumnValue[]): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const order = compareValues(a[at]!, b[at]!);
    if (order !== 0) return order;
  }
  return 0;
}

/** Compares well-formed texts by code point. */
export function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [unitA, unitB] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (unitA !== unitB) return codeRank(unitA) - codeRank(unitB);
  }
  return a.length - b.length;
}

/** Surrogates stand for the code points after U+FFFF, so they rank after all other units. */
function codeRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit;
}

/**
 * Returns the first text, by code point, after all texts that begin with the prefix; undefined if there is none, because
 * the prefix is empty or consists of the last code point.
 */
export function afterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0)!);
  while (points.at(-1) === LAST_POINT) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  // Surrogates are no code points of a text.
  points.push(last === 0xd7ff ? 0xe000 : last + 1);
  return points.map((point) => String.fromCodePoint(point)).join('');
}

const LAST_POINT = 0x10ffff;
