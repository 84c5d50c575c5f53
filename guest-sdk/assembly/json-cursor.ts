// JsonCursor: the tokenizer of JsonReader. It moves through JSON text, reads its tokens (strings, numbers, literals),
// and keeps the first problem.
//
// Invariants:
// - `failed` is set once and never cleared; `message` is the problem, `path` its location.
// - The path is built while the callers return (`within`, `withinItem`), so success costs nothing.
// - The cursor stays within the text: every load follows a comparison with `end`.

const EXCERPT_MAX: i32 = 40;

export const QUOTE: u32 = 0x22;
export const COMMA: u32 = 0x2c;
export const MINUS: u32 = 0x2d;
export const ZERO: u32 = 0x30;
export const COLON: u32 = 0x3a;
export const BACKSLASH: u32 = 0x5c;
export const OPEN_LIST: u32 = 0x5b;
export const CLOSE_LIST: u32 = 0x5d;
export const OPEN_OBJECT: u32 = 0x7b;
export const CLOSE_OBJECT: u32 = 0x7d;
/** Result of `peek` at the end of the text; it is not a UTF-16 code unit. */
export const END: u32 = 0x10000;

/** Shortens a caller's text for a message, without splitting a pair of surrogates. */
export function shortened(text: string): string {
  if (text.length <= EXCERPT_MAX) return text;
  const cutsPair = (text.charCodeAt(EXCERPT_MAX - 1) & 0xfc00) == 0xd800;
  return text.substring(0, cutsPair ? EXCERPT_MAX - 1 : EXCERPT_MAX) + "…";
}

// @ts-ignore: decorator
@inline
export function isDigit(unit: u32): bool {
  return unit - ZERO < 10;
}

export class JsonCursor {
  failed: bool = false;
  message: string = "";
  path: string = "";
  protected start: usize;
  protected at: usize;
  protected end: usize;
  // Start of the last number, which ends at the cursor.
  protected tokenStart: usize = 0;
  protected tokenIsInteger: bool = false;

  /** Garbage is not collected during a call, so the text does not move. */
  constructor(text: string) {
    const start = changetype<usize>(text);
    this.start = start;
    this.at = start;
    this.end = start + ((<usize>text.length) << 1);
  }

  // --- the problem and its path ---

  fail(message: string): void {
    if (this.failed) return;
    this.failed = true;
    this.message = message;
  }

  /** Notes that the value just read belongs to the field `name`. */
  within(name: string): void {
    const rest = this.path;
    if (rest.length == 0) this.path = name;
    else if (rest.charCodeAt(0) == OPEN_LIST) this.path = name + rest;
    else this.path = name + "." + rest;
  }

  /** Notes that the value just read belongs to the key `key` of a map. A key that is not a plain name is quoted. */
  withinKey(key: string): void {
    let plain = key.length > 0 && key.length <= EXCERPT_MAX;
    for (let i = 0; i < key.length && plain; ++i) {
      const unit = <u32>key.charCodeAt(i);
      plain = (unit | 0x20) - 0x61 < 26 || unit == 0x5f || isDigit(unit);
    }
    if (plain) {
      this.within(key);
      return;
    }
    const rest = this.path;
    const dot = rest.length == 0 || rest.charCodeAt(0) == OPEN_LIST ? "" : ".";
    this.path = "[\"" + shortened(key) + "\"]" + dot + rest;
  }

  /** Notes that the value just read belongs to the item `index` of an array. */
  withinItem(index: i32): void {
    const rest = this.path;
    const own = "[" + index.toString() + "]";
    if (rest.length == 0 || rest.charCodeAt(0) == OPEN_LIST) this.path = own + rest;
    else this.path = own + "." + rest;
  }

  missing(name: string): void {
    if (this.failed) return;
    this.fail("is missing");
    this.within(name);
  }

  /** Fails because a field occurs twice. `names`: all names of the field, when it has aliases. */
  twice(name: string, names: string = ""): void {
    if (this.failed) return;
    this.fail(names.length == 0 ? "is given twice" : "is given twice: '" + names + "' are names of one field");
    this.within(name);
  }

  /** Returns `path: message`; `root` is the path of the whole text. */
  problem(root: string): string {
    return (this.path.length > 0 ? this.path : root) + ": " + this.message;
  }

  protected syntax(expected: string): void {
    if (this.failed) return;
    const position = <i32>((this.at - this.start) >> 1) + 1;
    this.fail(
      "is not JSON: expected " + expected + " at character " + position.toString() + ", found " + this.found(),
    );
  }

  wrongType(expected: string): void {
    if (!this.failed) this.fail("must be " + expected + ", found " + this.found());
  }

  protected found(): string {
    const unit = this.peek();
    if (unit == END) return "the end of the text";
    if (unit == OPEN_OBJECT) return "an object";
    if (unit == OPEN_LIST) return "an array";
    let last = this.at + 2;
    if (unit == QUOTE) {
      while (last < this.end && load<u16>(last) != QUOTE && load<u16>(last) >= 0x20) last += 2;
      if (last < this.end && load<u16>(last) == QUOTE) last += 2;
    } else if (unit == MINUS || isDigit(unit) || (unit | 0x20) - 0x61 < 26) {
      while (last < this.end) {
        const next = <u32>load<u16>(last);
        const isWord =
          isDigit(next) || (next | 0x20) - 0x61 < 26 || next == MINUS || next == 0x2b || next == 0x2e;
        if (!isWord) break;
        last += 2;
      }
    } else if ((unit & 0xfc00) == 0xd800 && last < this.end) last += 2;
    return shortened(this.slice(this.at, last));
  }

  // --- the cursor ---

  // @ts-ignore: decorator
  @inline
  protected peek(): u32 {
    return this.at < this.end ? <u32>load<u16>(this.at) : END;
  }

  // @ts-ignore: decorator
  @inline
  protected skipSpace(): void {
    let at = this.at;
    const end = this.end;
    while (at < end) {
      const unit = <u32>load<u16>(at);
      if (unit != 0x20 && unit != 0x0a && unit != 0x0d && unit != 0x09) break;
      at += 2;
    }
    this.at = at;
  }

  /** Moves to the value at the beginning of the text. */
  begin(): void {
    this.skipSpace();
  }

  /** Fails unless the text has ended. */
  finish(): void {
    if (this.failed) return;
    this.skipSpace();
    if (this.at != this.end) this.syntax("the end of the text");
  }

  // --- tokens ---

  protected literal(word: string): void {
    const bytes = (<usize>word.length) << 1;
    if (this.end - this.at < bytes || memory.compare(this.at, changetype<usize>(word), bytes) != 0)
      this.syntax("a value");
    else this.at += bytes;
  }

  /** Reads a number of JSON's grammar, from `tokenStart` to the cursor. Returns false when the reader has failed. */
  protected scanNumber(expected: string): bool {
    const from = this.at;
    let unit = this.peek();
    if (unit != MINUS && !isDigit(unit)) {
      this.wrongType(expected);
      return false;
    }
    this.tokenStart = from;
    this.tokenIsInteger = true;
    if (unit == MINUS) this.at += 2;
    if (this.peek() == ZERO) this.at += 2;
    else if (!this.scanDigits()) return false;
    if (this.peek() == 0x2e) {
      this.tokenIsInteger = false;
      this.at += 2;
      if (!this.scanDigits()) return false;
    }
    unit = this.peek();
    if (unit == 0x65 || unit == 0x45) {
      this.tokenIsInteger = false;
      this.at += 2;
      unit = this.peek();
      if (unit == MINUS || unit == 0x2b) this.at += 2;
      if (!this.scanDigits()) return false;
    }
    return true;
  }

  protected scanDigits(): bool {
    if (!isDigit(this.peek())) {
      this.syntax("a digit");
      return false;
    }
    do this.at += 2;
    while (isDigit(this.peek()));
    return true;
  }

  protected slice(from: usize, to: usize): string {
    const bytes = to - from;
    if (bytes == 0) return "";
    const copy = __new(bytes, idof<string>());
    memory.copy(copy, from, bytes);
    return changetype<string>(copy);
  }

  /** Reads a string with its quotes. Returns whether it has escapes. */
  protected scanString(): bool {
    let at = this.at + 2;
    const end = this.end;
    let escaped = false;
    while (at < end) {
      const unit = <u32>load<u16>(at);
      if (unit == QUOTE) {
        this.at = at + 2;
        return escaped;
      }
      if (unit < 0x20) {
        this.at = at;
        if (!this.failed) this.fail("is not JSON: a control character in a string must be escaped");
        return false;
      }
      at += 2;
      if (unit == BACKSLASH) {
        escaped = true;
        at = this.scanEscape(at);
        if (at == 0) return false;
      }
    }
    this.at = end;
    this.syntax("'\"'");
    return false;
  }

  /** Checks an escape. `at` is after the backslash. Returns the end of the escape, or 0 when it is invalid. */
  protected scanEscape(at: usize): usize {
    const unit = at < this.end ? <u32>load<u16>(at) : END;
    if (unit == 0x75) {
      const first = this.hex(at + 2);
      if (first < 0) {
        this.at = at - 2;
        this.fail("is not JSON: '\\u' needs four hexadecimal digits");
        return 0;
      }
      at += 10;
      if ((first & 0xf800) != 0xd800) return at;
      const paired = first < 0xdc00 && at + 12 <= this.end && load<u32>(at) == 0x75005c;
      const second = paired ? this.hex(at + 4) : -1;
      if (second < 0 || (second & 0xfc00) != 0xdc00) {
        this.at = at - 12;
        this.fail("must be Unicode text, found half of a surrogate pair");
        return 0;
      }
      return at + 12;
    }
    switch (unit) {
      case QUOTE:
      case BACKSLASH:
      case 0x2f:
      case 0x62:
      case 0x66:
      case 0x6e:
      case 0x72:
      case 0x74:
        return at + 2;
      default:
        this.at = at;
        this.syntax("an escape that JSON knows");
        return 0;
    }
  }

  /** Returns the value of four hexadecimal digits at `at`, or -1. */
  protected hex(at: usize): i32 {
    if (at + 8 > this.end) return -1;
    let value = 0;
    for (let i: usize = 0; i < 8; i += 2) {
      const unit = <u32>load<u16>(at + i);
      let digit = unit - ZERO;
      if (digit > 9) {
        digit = (unit | 0x20) - 0x61;
        if (digit > 5) return -1;
        digit += 10;
      }
      value = (value << 4) | <i32>digit;
    }
    return value;
  }

  /** Returns the text of a range that `scanString` has accepted. */
  protected unescape(from: usize, to: usize): string {
    if (this.failed) return "";
    const copy = __new(to - from, idof<string>());
    let target = copy;
    while (from < to) {
      let unit = <u32>load<u16>(from);
      from += 2;
      if (unit == BACKSLASH) {
        unit = <u32>load<u16>(from);
        from += 2;
        switch (unit) {
          case 0x62:
            unit = 0x08;
            break;
          case 0x66:
            unit = 0x0c;
            break;
          case 0x6e:
            unit = 0x0a;
            break;
          case 0x72:
            unit = 0x0d;
            break;
          case 0x74:
            unit = 0x09;
            break;
          case 0x75:
            unit = <u32>this.hex(from);
            from += 8;
            break;
        }
      }
      store<u16>(target, <u16>unit);
      target += 2;
    }
    return target == copy ? "" : changetype<string>(__renew(copy, target - copy));
  }
}
