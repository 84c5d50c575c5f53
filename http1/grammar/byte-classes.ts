// Classes of bytes (RFC 9110, section 5.6, and RFC 9112), as a table of bits, so that a scanner asks once for each byte.

/** May be in a method or in the name of a field. */
export const TOKEN = 1;
/** May be in the value of a field or in a reason phrase: visible, space, tab, or above 0x7f. */
export const FIELD_VALUE = 2;
/** May be in a request target: visible ASCII, except `#`. */
export const TARGET = 4;
/** May be in the name of a host. */
export const HOST_NAME = 8;
export const DIGIT = 16;

export const TAB = 0x09;
export const LINE_FEED = 0x0a;
export const CARRIAGE_RETURN = 0x0d;
export const SPACE = 0x20;
export const QUOTE = 0x22;
export const COLON = 0x3a;
export const SEMICOLON = 0x3b;
export const EQUALS = 0x3d;
export const BACKSLASH = 0x5c;
const DELETE = 0x7f;

const LETTERS_AND_DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Bits of each byte. */
export const CLASSES = classes();
/** Value of each byte as a hexadecimal digit, or -1. */
export const HEX_DIGITS = hexDigits();

function classes(): Uint8Array {
  const table = new Uint8Array(256);
  const add = (characters: string, bit: number) => {
    for (let at = 0; at < characters.length; at++) table[characters.charCodeAt(at)]! |= bit;
  };
  add(`!#$%&'*+-.^_\`|~${LETTERS_AND_DIGITS}`, TOKEN);
  add(`-._~${LETTERS_AND_DIGITS}`, HOST_NAME);
  add('0123456789', DIGIT);
  for (let byte = 0; byte < 256; byte++) {
    if (byte === TAB || (byte >= SPACE && byte !== DELETE)) table[byte]! |= FIELD_VALUE;
    if (byte > SPACE && byte < DELETE && byte !== 0x23) table[byte]! |= TARGET;
  }
  return table;
}

function hexDigits(): Int8Array {
  const table = new Int8Array(256).fill(-1);
  for (let value = 0; value < 16; value++) {
    table[value.toString(16).charCodeAt(0)] = value;
    table[value.toString(16).toUpperCase().charCodeAt(0)] = value;
  }
  return table;
}

export function isControl(byte: number): boolean {
  return byte < SPACE || byte === DELETE;
}
