// ColumnText: keys and values of indexed fields as texts whose order, byte by byte, is that of `compareValues`. All columns of
// rows are such texts, with the collation "C", so neither the collation of the database nor a type of PostgreSQL decides on an
// order, and no value is out of a type's range.
//
// Invariant: the text of a key that begins with a prefix begins with the prefix's text.
import { type ColumnValue, NULL_VALUE } from '../../view-walk/column-value.ts';

// PostgreSQL cannot store U+0000, so two characters stand for it, and two others for the character that they begin with.
const ZERO = '\u0000';
const ZERO_TEXT = '\u0001\u0001';
const ONE = '\u0001';
const ONE_TEXT = '\u0001\u0002';
/** The character before a text, which keeps the empty text apart from null. */
const TEXT_MARK = '=';
const SIGN_BIT = 1n << 63n;
const HEX_DIGITS = 16;

/** Returns the text of a row's key. */
export function keyText(key: string): string {
  if (!key.includes(ZERO) && !key.includes(ONE)) return key;
  return key.replaceAll(ONE, ONE_TEXT).replaceAll(ZERO, ZERO_TEXT);
}

/** Returns the key of a text that `keyText` has made. */
export function keyOfText(text: string): string {
  if (!text.includes(ONE)) return text;
  let key = '';
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== ONE) key += text[at];
    else key += text[++at] === ONE ? ZERO : ONE;
  }
  return key;
}

/** Returns the text of a value of a column. That of null is empty, and before all others. */
export function columnText(value: ColumnValue): string {
  if (typeof value === 'string') return TEXT_MARK + keyText(value);
  if (typeof value === 'bigint') return hex(value + SIGN_BIT);
  return value === NULL_VALUE ? '' : hex(orderedBits(value));
}

/** Returns an integer that compares with others as the numbers compare. */
function orderedBits(value: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  // Of negative numbers, the larger magnitude is the smaller number.
  return bits >= SIGN_BIT ? BigInt.asUintN(64, ~bits) : bits | SIGN_BIT;
}

function hex(value: bigint): string {
  return value.toString(16).padStart(HEX_DIGITS, '0');
}
