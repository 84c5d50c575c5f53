// JsonReader: reads values from JSON text, strictly. It never traps and never coerces: it records the first
// problem with its path, and from then on every method returns immediately.
//
// Invariant: nesting is bounded, so hostile text cannot exhaust the stack.
import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  JsonCursor,
  MINUS,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  ZERO,
  isDigit,
  shortened,
} from "./json-cursor";
import { doubleOfToken, floatOfToken } from "./json-number";

/** Maximum nesting of objects and arrays in text from a caller; deeper text is refused. */
const DEPTH_MAX: i32 = 100;
/**
 * Maximum nesting of text that the module has written itself (events, states, replies): an event contains the
 * accepted input. The writer aborts beyond this depth, so everything that is stored can be read.
 */
export const STORED_DEPTH_MAX: i32 = 200;
/** Largest integer that a JSON number represents exactly; larger 64-bit integers are strings. */
const SAFE_INTEGER_MAX: u64 = 9007199254740991;

export class JsonReader extends JsonCursor {
  private depth: i32 = 0;
  // The last key, as a range of the text. If it has escapes, its text is created only on demand, since skipping a
  // value must not allocate memory.
  private keyStart: usize = 0;
  private keyBytes: usize = 0;
  private keyEscaped: bool = false;
  private keyText: string | null = null;
  /** Whether the last integer was too large for 64 bits. */
  private overflowed: bool = false;

  constructor(
    text: string,
    private depthMax: i32 = DEPTH_MAX,
  ) {
    super(text);
  }

  private enter(): bool {
    this.at += 2;
    if (++this.depth > this.depthMax) {
      this.fail("is nested deeper than " + this.depthMax.toString() + " levels");
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

  /** Enters an object and reads its first key. Returns false if the object is empty (and is skipped) or on failure. */
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

  /** Reads the key that follows a value. Returns false at the end of the object (and leaves it) or on failure. */
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
    this.keyEscaped = this.scanString();
    if (this.failed) return false;
    this.keyStart = from;
    this.keyBytes = this.at - 2 - from;
    this.keyText = null;
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
    const bytes = (<usize>name.length) << 1;
    // An escape is longer than the character that it represents.
    if (this.keyEscaped) return this.keyBytes > bytes && this.key() == name;
    return this.keyBytes == bytes && memory.compare(this.keyStart, changetype<usize>(name), bytes) == 0;
  }

  key(): string {
    const known = this.keyText;
    if (known !== null) return known;
    const end = this.keyStart + this.keyBytes;
    const text = this.keyEscaped ? this.unescape(this.keyStart, end) : this.slice(this.keyStart, end);
    this.keyText = text;
    return text;
  }

  /** Enters an array. Returns false if the array is empty (and is skipped) or on failure. */
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

  /** Moves from an item to the next. Returns false at the end of the array (and leaves it) or on failure. */
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

  /** Reads `null` and returns true, or leaves the cursor before the value. */
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

  /** Reads an integer of a type of at most 32 bits. */
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

  /** Reads i64 or u64: a number up to 2^53 - 1 in magnitude, or a string of decimal digits. */
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
      // `-0` is refused because 0 has only one spelling. Digits that exceed 64 bits are refused below.
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
    const value = floatOfToken(this.tokenStart, this.at);
    if (value - value == 0) return value;
    this.at = this.tokenStart;
    this.wrongType("a number that 32 bits can hold");
    return 0;
  }

  /** Returns a token's integer part without its sign; `u64.MAX_VALUE`, with `overflowed` set, when it is too large. */
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

  /** Reads any string. `known`: what a message expects in place of a value of another type. */
  readName(known: string): string {
    if (!this.failed && this.peek() != QUOTE) this.wrongType(known);
    return this.readString();
  }

  /** Skips a value of any type: checks its syntax without storing its content. */
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

  /** Returns the member `type` of the object at the cursor, wherever it is, and leaves the cursor there. */
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
    this.unknownName(known, tag);
    this.within("type");
  }

  readTag(name: string): void {
    const tag = this.readString();
    if (!this.failed && tag != name) this.unknownName("\"" + name + "\"", tag);
  }

  /** Fails because of an unknown name. `known`: the valid names. */
  unknownName(known: string, name: string): void {
    this.fail("must be " + known + ", found \"" + shortened(name) + "\"");
  }
}

const BIG_SIGNED =
  "an integer up to 9007199254740991 in magnitude, or a string of an integer that 64 bits can hold";
const BIG_UNSIGNED =
  "an integer from 0 to 9007199254740991, or a string of an integer that 64 bits can hold without a sign";

/** Minimum and maximum of an integer type of at most 32 bits. */
function minimum<T>(): i64 {
  return isSigned<T>() ? -(<i64>1 << (<i64>sizeof<T>() * 8 - 1)) : 0;
}

function maximum<T>(): i64 {
  return (<i64>1 << (<i64>sizeof<T>() * 8 - (isSigned<T>() ? 1 : 0))) - 1;
}

export function rangeWords<T>(): string {
  return "an integer from " + minimum<T>().toString() + " to " + maximum<T>().toString();
}
