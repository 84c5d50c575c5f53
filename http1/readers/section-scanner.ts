// The state machine of a head, or of trailers: it finds where the parts are, and refuses every byte that the grammar does
// not allow at its place (RFC 9110, section 5.5; RFC 9112, sections 2 to 5). It may stop after any byte, and looks at each
// byte once.
import {
  CARRIAGE_RETURN,
  CLASSES,
  COLON,
  DIGIT,
  FIELD_VALUE,
  LINE_FEED,
  SPACE,
  TAB,
  TARGET,
  TOKEN,
  isControl,
} from '../grammar/byte-classes.ts';
import type { FailureCode } from '../messages/failure.ts';

export type Section = 'request' | 'response' | 'trailers';
/** `more`: needs more bytes. */
export type ScanResult = 'done' | 'more' | FailureCode;

// States, in the order in which a section passes through them.
const START = 0;
const EMPTY_LINE_END = 1;
const AFTER_EMPTY_LINE = 2;
const METHOD = 3;
const REQUEST_TARGET = 4;
const VERSION = 5;
const STATUS = 6;
const REASON = 7;
const FIRST_LINE_END = 8;
const FIELD_START = 9;
const NAME = 10;
const VALUE = 11;
const FIELD_END = 12;
const SECTION_END = 13;

const FIRST_STATE: Readonly<Record<Section, number>> = {
  request: START,
  response: VERSION,
  trailers: FIELD_START,
};
const VERSION_FORM = Buffer.from('HTTP/0.0', 'latin1');
const ZERO = 0x30;
const ONE = 0x31;
/** Positions of a field: name from, name to, value from, value to. */
export const POSITIONS_PER_FIELD = 4;
/** Longer lists of positions are not kept for the next section. */
const POSITIONS_KEPT_MAX = 64 * POSITIONS_PER_FIELD;

export class SectionScanner {
  readonly #section: Section;
  readonly #positionsMax: number;
  #state: number;
  /** Position of the next byte. */
  at = 0;
  /** Where the method or the status begins. */
  lineStart = 0;
  /** Where the method ends, or the reason begins. */
  firstEnd = 0;
  /** Where the target or the reason ends. */
  secondEnd = 0;
  /** Positions of the fields, of which `positionCount` are valid. */
  positions: number[] = [];
  positionCount = 0;
  isVersion10 = false;
  #versionStart = 0;

  constructor(section: Section, fieldsMax: number) {
    this.#section = section;
    this.#positionsMax = fieldsMax * POSITIONS_PER_FIELD;
    this.#state = FIRST_STATE[section];
  }

  /** Whether more was read than an empty line before a request. */
  get isPastEmptyLine(): boolean {
    return this.#state > AFTER_EMPTY_LINE;
  }

  /** Begins the next section, at a position. */
  begin(at: number): void {
    this.#state = FIRST_STATE[this.#section];
    this.at = at;
    this.lineStart = at;
    this.#versionStart = at;
    this.positionCount = 0;
    if (this.positions.length > POSITIONS_KEPT_MAX) this.positions = [];
  }

  /** Notes that the bytes were moved to positions that are lower by `distance`. */
  moveBy(distance: number): void {
    this.at -= distance;
    this.lineStart -= distance;
    this.firstEnd -= distance;
    this.secondEnd -= distance;
    this.#versionStart -= distance;
    for (let index = 0; index < this.positionCount; index++) this.positions[index]! -= distance;
  }

  /** Scans from the current position to `end`. */
  scan(bytes: Buffer, end: number): ScanResult {
    if (this.#state < FIELD_START) {
      const result =
        this.#section === 'request' ? this.#requestLine(bytes, end) : this.#statusLine(bytes, end);
      if (result !== 'done') return result;
    }
    return this.#fields(bytes, end);
  }

  #requestLine(bytes: Buffer, end: number): ScanResult {
    if (this.#state < METHOD) {
      const result = this.#emptyLine(bytes, end);
      if (result !== 'done') return result;
    }
    let at = this.at;
    if (this.#state === METHOD) {
      while (at < end && (CLASSES[bytes[at]!]! & TOKEN) !== 0) at++;
      this.at = at;
      if (at === end) return 'more';
      if (bytes[at] !== SPACE || at === this.lineStart)
        return illegal(bytes[at]!, 'bad-request-line');
      this.firstEnd = at++;
      this.#state = REQUEST_TARGET;
    }
    if (this.#state === REQUEST_TARGET) {
      while (at < end && (CLASSES[bytes[at]!]! & TARGET) !== 0) at++;
      this.at = at;
      if (at === end) return 'more';
      if (bytes[at] === CARRIAGE_RETURN) return 'bad-request-line';
      if (bytes[at] !== SPACE) return illegal(bytes[at]!, 'bad-target');
      if (at === this.firstEnd + 1) return 'bad-request-line';
      this.secondEnd = at++;
      this.at = at;
      this.#versionStart = at;
      this.#state = VERSION;
    }
    if (this.#state === VERSION) {
      const result = this.#version(bytes, end);
      if (result !== 'done') return result;
      at = this.at;
      if (at === end) return 'more';
      if (bytes[at] !== CARRIAGE_RETURN) return illegal(bytes[at]!, 'bad-request-line');
      this.at = at + 1;
      this.#state = FIRST_LINE_END;
    }
    return this.#firstLineEnd(bytes, end);
  }

  /** Reads an empty line, if there is one before the request. */
  #emptyLine(bytes: Buffer, end: number): ScanResult {
    let at = this.at;
    if (this.#state === START && at < end) {
      if (bytes[at] === CARRIAGE_RETURN) {
        at++;
        this.#state = EMPTY_LINE_END;
      } else this.#state = AFTER_EMPTY_LINE;
    }
    if (this.#state === EMPTY_LINE_END && at < end) {
      if (bytes[at] !== LINE_FEED) return 'bare-carriage-return';
      at++;
      this.#state = AFTER_EMPTY_LINE;
    }
    this.at = at;
    if (at === end) return 'more';
    if (bytes[at] === CARRIAGE_RETURN) return 'empty-lines';
    this.lineStart = at;
    this.#state = METHOD;
    return 'done';
  }

  /** Reads a version, of which the bytes that were read stand before the current position. */
  #version(bytes: Buffer, end: number): ScanResult {
    const start = this.#versionStart;
    let at = this.at;
    for (let index = at - start; index < VERSION_FORM.length && at < end; index++, at++) {
      const byte = bytes[at]!;
      const isFitting =
        index === 5 || index === 7 ? (CLASSES[byte]! & DIGIT) !== 0 : byte === VERSION_FORM[index];
      if (!isFitting) return illegal(byte, 'bad-version');
    }
    this.at = at;
    if (at - start < VERSION_FORM.length) return 'more';
    const minor = bytes[start + 7]!;
    if (bytes[start + 5] !== ONE || (minor !== ZERO && minor !== ONE)) return 'unsupported-version';
    this.isVersion10 = minor === ZERO;
    return 'done';
  }

  #statusLine(bytes: Buffer, end: number): ScanResult {
    if (this.#state === VERSION) {
      const result = this.#version(bytes, end);
      if (result !== 'done') return result;
      const at = this.at;
      if (at === end) return 'more';
      if (bytes[at] !== SPACE) return illegal(bytes[at]!, 'bad-status-line');
      this.at = at + 1;
      this.lineStart = at + 1;
      this.#state = STATUS;
    }
    let at = this.at;
    if (this.#state === STATUS) {
      const statusEnd = this.lineStart + 3;
      for (; at < end && at < statusEnd; at++) {
        // Statuses below 100 do not exist.
        const isFirst = at === this.lineStart;
        if ((CLASSES[bytes[at]!]! & DIGIT) === 0 || (isFirst && bytes[at] === ZERO))
          return illegal(bytes[at]!, 'bad-status-line');
      }
      this.at = at;
      if (at === end) return 'more';
      // Without a reason, many servers leave out the space before it.
      if (bytes[at] !== SPACE && bytes[at] !== CARRIAGE_RETURN)
        return illegal(bytes[at]!, 'bad-status-line');
      if (bytes[at] === SPACE) at++;
      this.firstEnd = at;
      this.#state = REASON;
    }
    if (this.#state === REASON) {
      while (at < end && (CLASSES[bytes[at]!]! & FIELD_VALUE) !== 0) at++;
      this.at = at;
      if (at === end) return 'more';
      if (bytes[at] !== CARRIAGE_RETURN) return illegal(bytes[at]!, 'control-character');
      this.secondEnd = at;
      this.at = at + 1;
      this.#state = FIRST_LINE_END;
    }
    return this.#firstLineEnd(bytes, end);
  }

  #firstLineEnd(bytes: Buffer, end: number): ScanResult {
    if (this.at === end) return 'more';
    if (bytes[this.at] !== LINE_FEED) return 'bare-carriage-return';
    this.at++;
    this.#state = FIELD_START;
    return 'done';
  }

  #fields(bytes: Buffer, end: number): ScanResult {
    const { positions } = this;
    let count = this.positionCount;
    let state = this.#state;
    let at = this.at;
    while (at < end) {
      if (state === FIELD_START) {
        const byte = bytes[at]!;
        if (byte === SPACE || byte === TAB) return 'folded-line';
        if (byte === CARRIAGE_RETURN) {
          state = SECTION_END;
          at++;
          continue;
        }
        if (count >= this.#positionsMax) return 'too-many-fields';
        positions[count++] = at;
        state = NAME;
      }
      if (state === NAME) {
        while (at < end && (CLASSES[bytes[at]!]! & TOKEN) !== 0) at++;
        if (at === end) break;
        if (bytes[at] !== COLON || at === positions[count - 1]) return nameFailure(bytes[at]!);
        positions[count++] = at++;
        state = VALUE;
      }
      if (state === VALUE) {
        while (at < end && (CLASSES[bytes[at]!]! & FIELD_VALUE) !== 0) at++;
        if (at === end) break;
        if (bytes[at] !== CARRIAGE_RETURN) return illegal(bytes[at]!, 'control-character');
        const from = afterBlanks(bytes, positions[count - 1]! + 1, at);
        positions[count++] = from;
        positions[count++] = beforeBlanks(bytes, from, at);
        state = FIELD_END;
        at++;
      } else {
        if (bytes[at] !== LINE_FEED) return 'bare-carriage-return';
        at++;
        if (state === SECTION_END) {
          this.at = at;
          this.positionCount = count;
          return 'done';
        }
        state = FIELD_START;
      }
    }
    this.at = at;
    this.#state = state;
    this.positionCount = count;
    return 'more';
  }
}

/** Returns why the byte is not allowed: `otherwise`, unless the byte is allowed nowhere. */
function illegal(byte: number, otherwise: FailureCode): FailureCode {
  if (byte === LINE_FEED) return 'bare-line-feed';
  return isControl(byte) && byte !== CARRIAGE_RETURN && byte !== TAB
    ? 'control-character'
    : otherwise;
}

function nameFailure(byte: number): FailureCode {
  if (byte === SPACE || byte === TAB) return 'space-before-colon';
  return illegal(byte, byte === CARRIAGE_RETURN ? 'missing-colon' : 'bad-field-name');
}

function afterBlanks(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && (bytes[at] === SPACE || bytes[at] === TAB)) at++;
  return at;
}

function beforeBlanks(bytes: Buffer, from: number, to: number): number {
  let at = to;
  while (at > from && (bytes[at - 1] === SPACE || bytes[at - 1] === TAB)) at--;
  return at;
}
