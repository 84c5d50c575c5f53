// Chunk extensions (RFC 9112, section 7.1.1), after the size and its first semicolon, as a state machine over bytes.
import {
  BACKSLASH,
  CARRIAGE_RETURN,
  CLASSES,
  EQUALS,
  FIELD_VALUE,
  QUOTE,
  SEMICOLON,
  SPACE,
  TAB,
  TOKEN,
} from './byte-classes.ts';

/** The state after the semicolon. */
export const EXTENSION_START = 0;
/** The carriage return at the end of the line was read. */
export const EXTENSION_END = 1;
export const MALFORMED = 2;
const NAME = 3;
const AFTER_NAME = 4;
const VALUE_START = 5;
const TOKEN_VALUE = 6;
const QUOTED_VALUE = 7;
const QUOTED_PAIR = 8;
const AFTER_QUOTED_VALUE = 9;
/** White space after a value, which only another extension may follow. */
const AFTER_VALUE = 10;

/** Returns the state after a byte. */
export function extensionState(state: number, byte: number): number {
  const isToken = (CLASSES[byte]! & TOKEN) !== 0;
  const isBlank = byte === SPACE || byte === TAB;
  switch (state) {
    case EXTENSION_START:
      if (isBlank) return EXTENSION_START;
      return isToken ? NAME : MALFORMED;
    case NAME:
      if (isToken) return NAME;
      if (byte === EQUALS) return VALUE_START;
      return afterPart(byte, AFTER_NAME);
    case AFTER_NAME:
      if (isBlank) return AFTER_NAME;
      if (byte === EQUALS) return VALUE_START;
      return byte === SEMICOLON ? EXTENSION_START : MALFORMED;
    case VALUE_START:
      if (isBlank) return VALUE_START;
      if (byte === QUOTE) return QUOTED_VALUE;
      return isToken ? TOKEN_VALUE : MALFORMED;
    case TOKEN_VALUE:
      return isToken ? TOKEN_VALUE : afterPart(byte, AFTER_VALUE);
    case QUOTED_VALUE:
      if (byte === QUOTE) return AFTER_QUOTED_VALUE;
      if (byte === BACKSLASH) return QUOTED_PAIR;
      return (CLASSES[byte]! & FIELD_VALUE) === 0 ? MALFORMED : QUOTED_VALUE;
    case QUOTED_PAIR:
      return (CLASSES[byte]! & FIELD_VALUE) === 0 ? MALFORMED : QUOTED_VALUE;
    case AFTER_QUOTED_VALUE:
      return afterPart(byte, AFTER_VALUE);
    case AFTER_VALUE:
      if (isBlank) return AFTER_VALUE;
      return byte === SEMICOLON ? EXTENSION_START : MALFORMED;
    default:
      return MALFORMED;
  }
}

/** Returns the state after a byte that ends a name or a value. */
function afterPart(byte: number, afterBlank: number): number {
  if (byte === SEMICOLON) return EXTENSION_START;
  if (byte === CARRIAGE_RETURN) return EXTENSION_END;
  return byte === SPACE || byte === TAB ? afterBlank : MALFORMED;
}
