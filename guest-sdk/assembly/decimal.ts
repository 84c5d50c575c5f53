// Decimal: an exact decimal number, stored and sent as text such as "12.50". It is immutable.
//
// Invariant: a number has at most `DIGITS_MAX` digits, so that memory and time are bounded; an operation whose result
// has more digits aborts, and a text with more digits is refused.
import { Code, Refusal } from "./code";
import {
  Digits,
  NO_DIGITS,
  addDigits,
  compareDigits,
  digitsOf,
  divideDigits,
  multiplyDigits,
  part,
  shifted,
  subtractDigits,
  trimmed,
} from "./decimal-digits";
import { isDigit, shortened } from "./json-cursor";
import { JsonReader } from "./json-reader";
import { JsonWriter } from "./json-writer";
import { Result } from "./result";

/** Maximum number of digits, before and after the point together. */
const DIGITS_MAX: i32 = 100;
const WORDS = "a decimal as text like \"12.50\", of at most 100 digits";
const POINT: u16 = 0x2e;
const MINUS: u16 = 0x2d;
const ZERO: u16 = 0x30;

/** Ways to round a result to the digits of its scale. */
export enum RoundingMode {
  /** Rounds away from zero. */
  UP = 0,
  /** Rounds toward zero: the digits are cut off. */
  DOWN = 1,
  /** Rounds toward the larger number. */
  CEILING = 2,
  /** Rounds toward the smaller number. */
  FLOOR = 3,
  /** Rounds to the nearest number; rounds a half away from zero. */
  HALF_UP = 4,
  /** Rounds to the nearest number; rounds a half toward zero. */
  HALF_DOWN = 5,
  /** Rounds to the nearest number; rounds a half to the even digit, as banks do. */
  HALF_EVEN = 6,
}

export class Decimal {
  private negative: bool = false;
  private digits: Digits = NO_DIGITS;
  private places: i32 = 0;

  /** Returns `value` times ten to the power of `-scale`: `fromI64(1250, 2)` is 12.50. */
  static fromI64(value: i64, scale: i32 = 0): Decimal {
    checkScale(scale);
    return Decimal.__svc_of(value < 0, digitsOf(value < 0 ? 0 - <u64>value : <u64>value), scale);
  }

  /** Parses a text such as `-12.50`. Refuses an exponent, a plus sign, leading zeros and `-0` with `BAD_REQUEST`. */
  static parse(text: string): Result<Decimal> {
    const decimal = new Decimal();
    if (decimal.take(text)) return Result.__svc_of<Decimal>(decimal);
    return Result.__svc_refused<Decimal>(new Refusal(Code.BAD_REQUEST, "must be " + WORDS + found(text)));
  }

  static __svc_of(negative: bool, digits: Digits, scale: i32): Decimal {
    if (max(digits.length, scale + 1) > DIGITS_MAX)
      throw new Error("a decimal has at most " + DIGITS_MAX.toString() + " digits: round before it has more");
    const decimal = new Decimal();
    decimal.negative = negative && digits.length > 0;
    decimal.digits = digits;
    decimal.places = scale;
    return decimal;
  }

  /** The number of digits after the point, 0 to 99. */
  get scale(): i32 {
    return this.places;
  }

  get isZero(): bool {
    return this.digits.length == 0;
  }

  /** Whether the number is less than zero. */
  get isNegative(): bool {
    return this.negative;
  }

  /** Returns the sum, with the larger scale of both numbers. */
  add(other: Decimal): Decimal {
    const scale = max(this.places, other.places);
    const a = shifted(this.digits, scale - this.places);
    const b = shifted(other.digits, scale - other.places);
    if (this.negative == other.negative) return Decimal.__svc_of(this.negative, addDigits(a, b), scale);
    if (compareDigits(a, b) >= 0) return Decimal.__svc_of(this.negative, subtractDigits(a, b), scale);
    return Decimal.__svc_of(other.negative, subtractDigits(b, a), scale);
  }

  /** Returns the difference, with the larger scale of both numbers. */
  subtract(other: Decimal): Decimal {
    return this.add(other.negate());
  }

  /** Returns the exact product, whose scale is the sum of both scales. */
  multiply(other: Decimal): Decimal {
    const digits = multiplyDigits(this.digits, other.digits);
    return Decimal.__svc_of(this.negative != other.negative, digits, this.places + other.places);
  }

  /** Returns the quotient with `scale` digits after the point. Aborts when `other` is zero. */
  divide(other: Decimal, scale: i32, rounding: RoundingMode): Decimal {
    checkScale(scale);
    if (other.isZero) throw new Error("a decimal cannot be divided by zero");
    const zeros = scale + other.places - this.places;
    const quotient = divideDigits(shifted(this.digits, max(zeros, 0)), shifted(other.digits, max(-zeros, 0)));
    const negative = this.negative != other.negative;
    return rounded(negative, quotient.digits, quotient.isExact, quotient.comparedToHalf, scale, rounding);
  }

  /** Returns the number with `scale` digits after the point; appends zeros when it has fewer. */
  round(scale: i32, rounding: RoundingMode): Decimal {
    checkScale(scale);
    const count = this.places - scale;
    if (count <= 0) return Decimal.__svc_of(this.negative, shifted(this.digits, -count), scale);
    const kept = this.digits.length - count;
    const first = kept >= 0 ? <i32>this.digits[kept] : 0;
    const rest = trimmed(part(this.digits, max(kept + 1, 0), this.digits.length)).length > 0;
    const comparedToHalf = first > 5 || (first == 5 && rest) ? 1 : first == 5 ? 0 : -1;
    const digits = part(this.digits, 0, max(kept, 0));
    return rounded(this.negative, digits, first == 0 && !rest, comparedToHalf, scale, rounding);
  }

  negate(): Decimal {
    return Decimal.__svc_of(!this.negative, this.digits, this.places);
  }

  abs(): Decimal {
    return this.negative ? this.negate() : this;
  }

  /** Returns -1 when this is less than `other`, 0 when both are equal, 1 otherwise. Trailing zeros do not matter. */
  compare(other: Decimal): i32 {
    if (this.negative != other.negative) return this.negative ? -1 : 1;
    const scale = max(this.places, other.places);
    const order = compareDigits(
      shifted(this.digits, scale - this.places),
      shifted(other.digits, scale - other.places),
    );
    return this.negative ? -order : order;
  }

  /** Returns whether both are the same number: 1.50 equals 1.5. `==` has the same result. */
  equals(other: Decimal): bool {
    return this.compare(other) == 0;
  }

  @operator("==")
  private static same(a: Decimal | null, b: Decimal | null): bool {
    if (changetype<usize>(a) == 0 || changetype<usize>(b) == 0) return changetype<usize>(a) == changetype<usize>(b);
    return changetype<Decimal>(a).compare(changetype<Decimal>(b)) == 0;
  }

  @operator("!=")
  private static differ(a: Decimal | null, b: Decimal | null): bool {
    return !Decimal.same(a, b);
  }

  /** Returns the stored text, with all digits after the point: `12.50`. */
  toString(): string {
    const whole = max(this.digits.length - this.places, 1);
    const zeros = whole + this.places - this.digits.length;
    const units = (this.negative ? 1 : 0) + whole + (this.places > 0 ? this.places + 1 : 0);
    let at = __new(<usize>units << 1, idof<string>());
    const text = changetype<string>(at);
    if (this.negative) {
      store<u16>(at, MINUS);
      at += 2;
    }
    for (let i = 0; i < whole + this.places; ++i) {
      if (i == whole) {
        store<u16>(at, POINT);
        at += 2;
      }
      store<u16>(at, ZERO + (i < zeros ? 0 : <u16>this.digits[i - zeros]));
      at += 2;
    }
    return text;
  }

  /** Marks a type whose JSON is a single text, so that a path or a query string can contain it. */
  __svc_isText(): void {}

  __svc_decode(reader: JsonReader): void {
    const text = reader.readName(WORDS);
    if (!reader.failed && !this.take(text)) reader.fail("must be " + WORDS + found(text));
  }

  __svc_encode(to: JsonWriter): void {
    to.string(this.toString());
  }

  __svc_clone(): Decimal {
    return this;
  }

  /** Sets the number from a text. Returns false when the text is not a decimal. */
  private take(text: string): bool {
    const length = text.length;
    const negative = length > 0 && text.charCodeAt(0) == MINUS;
    const from = negative ? 1 : 0;
    let whole = 0;
    while (from + whole < length && isDigit(text.charCodeAt(from + whole))) ++whole;
    if (whole == 0 || (whole > 1 && text.charCodeAt(from) == ZERO)) return false;
    let scale = 0;
    if (from + whole < length) {
      if (text.charCodeAt(from + whole) != POINT) return false;
      scale = length - from - whole - 1;
      if (scale == 0) return false;
    }
    if (whole + scale > DIGITS_MAX) return false;
    const digits = new StaticArray<u8>(whole + scale);
    for (let i = 0; i < digits.length; ++i) {
      const unit = text.charCodeAt(from + i + (i < whole ? 0 : 1));
      if (!isDigit(unit)) return false;
      digits[i] = <u8>(unit - ZERO);
    }
    this.digits = trimmed(digits);
    this.negative = negative;
    this.places = scale;
    return !negative || this.digits.length > 0;
  }
}

function found(text: string): string {
  return ", found \"" + shortened(text) + "\"";
}

function checkScale(scale: i32): void {
  if (scale < 0 || scale >= DIGITS_MAX)
    throw new Error("the scale of a decimal is 0 to " + (DIGITS_MAX - 1).toString() + ", not " + scale.toString());
}

function rounded(
  negative: bool,
  digits: Digits,
  isExact: bool,
  comparedToHalf: i32,
  scale: i32,
  rounding: RoundingMode,
): Decimal {
  const isOdd = digits.length > 0 && (digits[digits.length - 1] & 1) == 1;
  const isFurther = !isExact && movesFromZero(rounding, negative, isOdd, comparedToHalf);
  const sum = isFurther ? addDigits(digits, digitsOf(1)) : digits;
  return Decimal.__svc_of(negative, sum, scale);
}

function movesFromZero(rounding: RoundingMode, negative: bool, isOdd: bool, comparedToHalf: i32): bool {
  switch (rounding) {
    case RoundingMode.UP:
      return true;
    case RoundingMode.DOWN:
      return false;
    case RoundingMode.CEILING:
      return !negative;
    case RoundingMode.FLOOR:
      return negative;
    case RoundingMode.HALF_UP:
      return comparedToHalf >= 0;
    case RoundingMode.HALF_DOWN:
      return comparedToHalf > 0;
    case RoundingMode.HALF_EVEN:
      return comparedToHalf > 0 || (comparedToHalf == 0 && isOdd);
    default:
      throw new Error("there is no such rounding mode");
  }
}
