// JsonReader: a strict cursor over JSON text. It never traps and never coerces: the first thing
// that is wrong is recorded with its place, and from then on every method returns at once.
//
// Invariants:
// - `failed` is set once and never cleared; `message` says what is wrong, `path` where.
// - The path is built while the callers return (`within`, `withinItem`), so success costs nothing.
// - The cursor stays inside of the text: every load is behind a comparison with `end`.
// - Nesting is bounded, so hostile text cannot exhaust the stack.
import { doubleOfToken } from "./json-number";

/** Objects and arrays inside of one another: deeper text is refused. */
const DEPTH_MAX: i32 = 100;
/** A JSON number is exact up to here; 64-bit integers beyond travel as strings. */
const SAFE_INTEGER_MAX: u64 = 9007199254740991;
const EXCERPT_MAX: i32 = 40;

const QUOTE: u32 = 0x22;
const COMMA: u32 = 0x2c;
const MINUS: u32 = 0x2d;
const ZERO: u32 = 0x30;
const COLON: u32 = 0x3a;
const BACKSLASH: u32 = 0x5c;
const OPEN_LIST: u32 = 0x5b;
const CLOSE_LIST: u32 = 0x5d;
const OPEN_OBJECT: u32 = 0x7b;
const CLOSE_OBJECT: u32 = 0x7d;
/** No UTF-16 unit: what `peek` says at the end of the text. */
const END: u32 = 0x10000;

// @ts-ignore: decorator
@inline
function isDigit(unit: u32): bool {
  return unit - ZERO < 10;
}

export class JsonReader {
  failed: bool = false;
  message: string = "";
  path: string = "";
  private start: usize;
  private at: usize;
  private end: usize;
  private depth: i32 = 0;
  // The key that was read last: a range of the text, or `keyText` when it has escapes.
  private keyStart: usize = 0;
  private keyBytes: usize = 0;
  private keyText: string = "";
  // The number that was read last.
  private tokenStart: usize = 0;
  private tokenIsInteger: bool = false;

  constructor(private text: string) {
    const start = changetype<usize>(text);
    this.start = start;
    this.at = start;
    this.end = start + ((<usize>text.length) << 1);
  }

  // --- what is wrong, and where ---

  fail(message: string): void {
    if (this.failed) return;
    this.failed = true;
    this.message = message;
  }

  /** The value just read belongs to the field `name`. */
  within(name: string): void {
    const rest = this.path;
    if (rest.length == 0) this.path = name;
    else if (rest.charCodeAt(0) == OPEN_LIST) this.path = name + rest;
    else this.path = name + "." + rest;
  }

  /** The value just read belongs to the key `key` of a map: text of whoever sent it. */
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
    const shown = key.length > EXCERPT_MAX ? key.substring(0, EXCERPT_MAX) + "…" : key;
    const rest = this.path;
    const dot = rest.length == 0 || rest.charCodeAt(0) == OPEN_LIST ? "" : ".";
    this.path = "[\"" + shown + "\"]" + dot + rest;
  }

  /** The value just read belongs to the item `index` of an array. */
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

  twice(name: string): void {
    if (this.failed) return;
    this.fail("is given twice");
    this.within(name);
  }

  /** `path: message`; `root` stands for the whole text. */
  problem(root: string): string {
    return (this.path.length > 0 ? this.path : root) + ": " + this.message;
  }

  private syntax(expected: string): void {
    if (this.failed) return;
    const place = <i32>((this.at - this.start) >> 1) + 1;
    this.fail(
      "is not JSON: expected " + expected + " at character " + place.toString() + ", found " + this.found(),
    );
  }

  wrongType(expected: string): void {
    if (!this.failed) this.fail("must be " + expected + ", found " + this.found());
  }

  private found(): string {
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
    }
    return this.excerpt(this.at, last);
  }

  private excerpt(from: usize, to: usize): string {
    const length = <i32>((to - from) >> 1);
    const first = <i32>((from - this.start) >> 1);
    if (length <= EXCERPT_MAX) return this.text.substring(first, first + length);
    return this.text.substring(first, first + EXCERPT_MAX) + "…";
  }

  // --- the cursor ---

  // @ts-ignore: decorator
  @inline
  private peek(): u32 {
    return this.at < this.end ? <u32>load<u16>(this.at) : END;
  }

  // @ts-ignore: decorator
  @inline
  private skipSpace(): void {
    let at = this.at;
    const end = this.end;
    while (at < end) {
      const unit = <u32>load<u16>(at);
      if (unit != 0x20 && unit != 0x0a && unit != 0x0d && unit != 0x09) break;
      at += 2;
    }
    this.at = at;
  }

  /** Goes to the value at the beginning of the text. */
  begin(): void {
    this.skipSpace();
  }

  /** The text must be over. */
  finish(): void {
    if (this.failed) return;
    this.skipSpace();
    if (this.at != this.end) this.syntax("the end of the text");
  }

  private enter(): bool {
    this.at += 2;
    if (++this.depth > DEPTH_MAX) {
      this.fail("is nested deeper than " + DEPTH_MAX.toString() + " levels");
      return false;
    }
    this.skipSpace();
    return true;
  }

  private leave(): void {
    this.at += 2;
    --this.depth;
  }

  // --- objects and arrays ---

  /** Enters an object. True: a key was read. False: it is empty and left, or something is wrong. */
  beginObject(): bool {
    if (this.failed) return false;
    if (this.peek() != OPEN_OBJECT) {
      this.wrongType("an object");
      return false;
    }
    if (!this.enter()) return false;
    if (this.peek() == CLOSE_OBJECT) {
      this.leave();
      return false;
    }
    return this.readKey();
  }

  /** After a value. True: another key was read. False: the object is left, or something is wrong. */
  nextKey(): bool {
    if (this.failed) return false;
    this.skipSpace();
    const unit = this.peek();
    if (unit == COMMA) {
      this.at += 2;
      this.skipSpace();
      return this.readKey();
    }
    if (unit == CLOSE_OBJECT) this.leave();
    else this.syntax("',' or '}'");
    return false;
  }

  private readKey(): bool {
    if (this.peek() != QUOTE) {
      this.syntax("a field's name");
      return false;
    }
    const from = this.at + 2;
    if (this.scanString()) {
      this.keyStart = 0;
      this.keyText = this.unescape(from, this.at - 2);
    } else {
      this.keyStart = from;
      this.keyBytes = this.at - 2 - from;
    }
    if (this.failed) return false;
    this.skipSpace();
    if (this.peek() != COLON) {
      this.syntax("':'");
      return false;
    }
    this.at += 2;
    this.skipSpace();
    return true;
  }

  keyIs(name: string): bool {
    if (this.keyStart == 0) return this.keyText == name;
    const bytes = (<usize>name.length) << 1;
    return this.keyBytes == bytes && memory.compare(this.keyStart, changetype<usize>(name), bytes) == 0;
  }

  key(): string {
    return this.keyStart == 0 ? this.keyText : this.slice(this.keyStart, this.keyStart + this.keyBytes);
  }

  /** Enters an array. True: it has a first item. False: it is empty and left, or something is wrong. */
  beginArray(): bool {
    if (this.failed) return false;
    if (this.peek() != OPEN_LIST) {
      this.wrongType("an array");
      return false;
    }
    if (!this.enter()) return false;
    if (this.peek() == CLOSE_LIST) {
      this.leave();
      return false;
    }
    return true;
  }

  /** After an item. True: there is another. False: the array is left, or something is wrong. */
  nextItem(): bool {
    if (this.failed) return false;
    this.skipSpace();
    const unit = this.peek();
    if (unit == COMMA) {
      this.at += 2;
      this.skipSpace();
      return true;
    }
    if (unit == CLOSE_LIST) this.leave();
    else this.syntax("',' or ']'");
    return false;
  }

  // --- values ---

  /** Takes `null` and says true, or leaves the value where it is. */
  tryNull(): bool {
    if (this.failed || this.peek() != 0x6e) return false;
    this.literal("null");
    return !this.failed;
  }

  readNull(): void {
    if (this.failed) return;
    if (this.peek() == 0x6e) this.literal("null");
    else this.wrongType("null");
  }

  readBool(): bool {
    if (this.failed) return false;
    const unit = this.peek();
    if (unit == 0x74) {
      this.literal("true");
      return true;
    }
    if (unit == 0x66) this.literal("false");
    else this.wrongType("true or false");
    return false;
  }

  private literal(word: string): void {
    const bytes = (<usize>word.length) << 1;
    if (this.end - this.at < bytes || memory.compare(this.at, changetype<usize>(word), bytes) != 0)
      this.syntax("a value");
    else this.at += bytes;
  }

  /** An integer type of at most 32 bits. */
  readInteger<T>(): T {
    if (this.failed || !this.scanNumber(rangeWords<T>())) return <T>0;
    const magnitude = this.magnitude();
    const negative = load<u16>(this.tokenStart) == MINUS;
    const value = negative ? -(<i64>magnitude) : <i64>magnitude;
    if (this.tokenIsInteger && magnitude <= SAFE_INTEGER_MAX) {
      if (value >= minimum<T>() && value <= maximum<T>()) return <T>value;
    }
    this.at = this.tokenStart;
    this.wrongType(rangeWords<T>());
    return <T>0;
  }

  /** i64 or u64: a number up to 2^53 - 1 in magnitude, or a string of decimal digits. */
  readBigInteger<T>(): T {
    if (this.failed) return <T>0;
    const words = isSigned<T>() ? BIG_SIGNED : BIG_UNSIGNED;
    const from = this.at;
    const quoted = this.peek() == QUOTE;
    if (quoted) {
      this.at += 2;
      const unit = this.peek();
      if (unit != MINUS && !isDigit(unit)) {
        this.at = from;
        this.wrongType(words);
        return <T>0;
      }
    }
    if (!this.scanNumber(words)) return <T>0;
    const magnitude = this.magnitude();
    const negative = load<u16>(this.tokenStart) == MINUS;
    let fits = this.tokenIsInteger;
    if (quoted) {
      if (this.peek() == QUOTE) this.at += 2;
      else fits = false;
      // `-0` is one more way to write 0, and 21 digits overflow before they can be compared.
      if (negative && magnitude == 0) fits = false;
    } else if (magnitude > SAFE_INTEGER_MAX) fits = false;
    if (magnitude == u64.MAX_VALUE && this.overflowed) fits = false;
    if (isSigned<T>()) {
      if (magnitude > (negative ? <u64>1 << 63 : <u64>i64.MAX_VALUE)) fits = false;
    } else if (negative && magnitude != 0) fits = false;
    if (!fits) {
      this.at = from;
      this.wrongType(words);
      return <T>0;
    }
    return <T>(negative ? 0 - magnitude : magnitude);
  }

  readDouble(): f64 {
    if (this.failed || !this.scanNumber("a number")) return 0;
    const value = doubleOfToken(this.tokenStart, this.at);
    if (value - value == 0) return value;
    this.at = this.tokenStart;
    this.wrongType("a number that 64 bits can hold");
    return 0;
  }

  readFloat(): f32 {
    if (this.failed || !this.scanNumber("a number")) return 0;
    const value = <f32>doubleOfToken(this.tokenStart, this.at);
    if (value - value == 0) return value;
    this.at = this.tokenStart;
    this.wrongType("a number that 32 bits can hold");
    return 0;
  }

  private overflowed: bool = false;

  /** The digits of an integer token; `u64.MAX_VALUE` and `overflowed` when there are too many. */
  private magnitude(): u64 {
    let at = this.tokenStart;
    if (load<u16>(at) == MINUS) at += 2;
    let value: u64 = 0;
    this.overflowed = false;
    while (at < this.at) {
      const digit = <u64>load<u16>(at) - ZERO;
      if (digit > 9) break;
      if (value > 1844674407370955161 || (value == 1844674407370955161 && digit > 5)) {
        this.overflowed = true;
        return u64.MAX_VALUE;
      }
      value = value * 10 + digit;
      at += 2;
    }
    return value;
  }

  /** Takes one number of JSON's grammar; its text is from `tokenStart` to the cursor. */
  private scanNumber(expected: string): bool {
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

  private scanDigits(): bool {
    if (!isDigit(this.peek())) {
      this.syntax("a digit");
      return false;
    }
    do this.at += 2;
    while (isDigit(this.peek()));
    return true;
  }

  readString(): string {
    if (this.failed) return "";
    if (this.peek() != QUOTE) {
      this.wrongType("a string");
      return "";
    }
    const from = this.at + 2;
    const escaped = this.scanString();
    if (this.failed) return "";
    return escaped ? this.unescape(from, this.at - 2) : this.slice(from, this.at - 2);
  }

  private slice(from: usize, to: usize): string {
    const bytes = to - from;
    if (bytes == 0) return "";
    const copy = __new(bytes, idof<string>());
    memory.copy(copy, from, bytes);
    return changetype<string>(copy);
  }

  /** Takes one string, with its quotes. True: it has escapes. */
  private scanString(): bool {
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

  /** `at` is behind the backslash. Answers the place behind the escape, 0 when it is wrong. */
  private scanEscape(at: usize): usize {
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

  /** Four hexadecimal digits at `at`, -1 when there are none. */
  private hex(at: usize): i32 {
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

  /** The text of a range that `scanString` has accepted. */
  private unescape(from: usize, to: usize): string {
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

  /** Takes any value; its grammar is checked, its content is not kept. */
  skipValue(): void {
    if (this.failed) return;
    const unit = this.peek();
    if (unit == OPEN_OBJECT) {
      let more = this.beginObject();
      while (more) {
        this.skipValue();
        more = this.nextKey();
      }
    } else if (unit == OPEN_LIST) {
      let more = this.beginArray();
      while (more) {
        this.skipValue();
        more = this.nextItem();
      }
    } else if (unit == QUOTE) this.scanString();
    else if (unit == MINUS || isDigit(unit)) this.scanNumber("a number");
    else if (unit == 0x74) this.literal("true");
    else if (unit == 0x66) this.literal("false");
    else if (unit == 0x6e) this.literal("null");
    else this.syntax("a value");
  }

  // --- sum types ---

  /** The `type` of the object at the cursor, wherever it stands in it. The cursor does not move. */
  peekTag(): string {
    const from = this.at;
    const depth = this.depth;
    let more = this.beginObject();
    while (more) {
      if (this.keyIs("type")) {
        const tag = this.readString();
        if (this.failed) this.within("type");
        this.at = from;
        this.depth = depth;
        return tag;
      }
      this.skipValue();
      more = this.nextKey();
    }
    this.missing("type");
    return "";
  }

  unknownTag(tag: string, known: string): void {
    if (this.failed) return;
    const shown = tag.length > EXCERPT_MAX ? tag.substring(0, EXCERPT_MAX) + "…" : tag;
    this.fail("must be " + known + ", found \"" + shown + "\"");
    this.within("type");
  }

  readTag(name: string): void {
    const tag = this.readString();
    if (!this.failed && tag != name) this.unknownTagValue(tag, name);
  }

  private unknownTagValue(tag: string, name: string): void {
    const shown = tag.length > EXCERPT_MAX ? tag.substring(0, EXCERPT_MAX) + "…" : tag;
    this.fail("must be \"" + name + "\", found \"" + shown + "\"");
  }
}

const BIG_SIGNED =
  "an integer up to 9007199254740991 in magnitude, or a string of an integer that 64 bits can hold";
const BIG_UNSIGNED =
  "an integer from 0 to 9007199254740991, or a string of an integer that 64 bits can hold without a sign";

/** The range of an integer type of at most 32 bits. */
function minimum<T>(): i64 {
  return isSigned<T>() ? -(<i64>1 << (<i64>sizeof<T>() * 8 - 1)) : 0;
}

function maximum<T>(): i64 {
  return (<i64>1 << (<i64>sizeof<T>() * 8 - (isSigned<T>() ? 1 : 0))) - 1;
}

export function rangeWords<T>(): string {
  return "an integer from " + minimum<T>().toString() + " to " + maximum<T>().toString();
}
