// The JSON text of a double in JavaScript's format: the shortest decimal that is parsed as the same double, and the
// nearest of several such decimals. The standard library's printer is wrong for some doubles.
import { itoa_buffered } from "util/number";
import { DOT, EXACT_POWERS, MINUS, ZERO } from "./json-number";
import { addTimes, compare, multiplyAdd, newNatural, scale, setNatural, shiftLeft, subtract, useLimbs } from "./natural";

/** Bytes reserved for a text, which has at most 25 UTF-16 units: sign, 17 digits, point, and exponent or zeros. */
export const DOUBLE_BYTES: i32 = 64;
/** Limit below which a double represents every decimal of 15 digits uniquely. */
const FEW_DIGITS_MAX: f64 = 1e15;
const SAFE_INTEGER_MAX: f64 = 9007199254740991;
const FRACTION_BITS: u64 = 52;
const LOG10_OF_2: f64 = 0.30102999566398114;
/** Maximum number of digits before the point without an exponent. JavaScript also writes an exponent below 10^-6. */
const PLAIN_DIGITS_MAX: i32 = 21;

// The decimal that was found: digits × 10^power.
let digits: u64 = 0;
let power: i32 = 0;

// The numbers are reused, since values that need them often follow one another.
// @ts-ignore: decorator
@lazy const rest = newNatural();
// @ts-ignore: decorator
@lazy const unit = newNatural();
// @ts-ignore: decorator
@lazy const margin = newNatural();
// @ts-ignore: decorator
@lazy const above = newNatural();

/** Writes a double as UTF-16, in at most DOUBLE_BYTES; returns the end of the text. Throws for Infinity and NaN. */
export function putDouble(at: usize, value: f64): usize {
  if (value - value != 0) {
    const name = value > 0 ? "Infinity" : value < 0 ? "-Infinity" : "NaN";
    throw new Error("a number that is not finite (" + name + ") cannot be written as JSON");
  }
  if (reinterpret<i64>(value) < 0) {
    store<u16>(at, MINUS);
    at += 2;
  }
  const magnitude = Math.abs(value);
  if (!findFewDigits(magnitude)) findDigits(magnitude);
  return layOut(at);
}

/** Finds integers and decimals of up to 15 digits (a quotient of exact doubles is rounded once); else returns false. */
function findFewDigits(magnitude: f64): bool {
  if (magnitude <= SAFE_INTEGER_MAX && magnitude == Math.floor(magnitude)) {
    digits = <u64>magnitude;
    power = 0;
    return true;
  }
  for (let places = 1; places < EXACT_POWERS.length; ++places) {
    const scaled = nearest(magnitude * unchecked(EXACT_POWERS[places]));
    if (scaled > FEW_DIGITS_MAX) return false;
    if (scaled / unchecked(EXACT_POWERS[places]) == magnitude) {
      digits = <u64>scaled;
      power = -places;
      return true;
    }
  }
  return false;
}

/**
 * Finds the digits one by one, until the remainder is within the margin in which decimals are parsed as the same
 * double (Steele and White's algorithm): the remainder is rest / unit, the margin is margin / unit.
 */
function findDigits(magnitude: f64): void {
  const bits = reinterpret<u64>(magnitude);
  const biased = <i32>(bits >> FRACTION_BITS);
  const fraction = bits & ((<u64>1 << FRACTION_BITS) - 1);
  const mantissa = biased == 0 ? fraction : fraction | (<u64>1 << FRACTION_BITS);
  const exponent = max(biased, 1) - 1075;
  // The parser rounds a decimal halfway between two doubles to the even one.
  const inclusive = (mantissa & 1) == 0 ? 1 : 0;
  // The next double below a power of two is half as far as the next one above.
  const upwards: u64 = fraction == 0 && biased > 1 ? 2 : 1;
  useLimbs(((max(exponent, -exponent) + 64) >> 5) + 2);
  setNatural(rest, mantissa);
  shiftLeft(rest, max(exponent, 0) + <i32>upwards);
  setNatural(unit, 1);
  shiftLeft(unit, max(-exponent, 0) + <i32>upwards);
  setNatural(margin, 1);
  shiftLeft(margin, max(exponent, 0));
  // This estimate of the position of the point may be one too small.
  let point = <i32>Math.ceil(<f64>(exponent + 63 - <i32>clz(mantissa)) * LOG10_OF_2 - 1e-10);
  if (point > 0) scale(unit, point);
  else {
    scale(rest, -point);
    scale(margin, -point);
  }
  if (reachesUnit(upwards, inclusive)) ++point;
  else nextPlace();
  digits = 0;
  for (;;) {
    let digit: u64 = 0;
    for (; compare(rest, unit) >= 0; ++digit) subtract(rest, unit);
    --point;
    const downEnds = compare(rest, margin) < inclusive;
    const upEnds = reachesUnit(upwards, inclusive);
    digits = digits * 10 + digit;
    if (downEnds || upEnds) {
      if (upEnds && (!downEnds || roundsUp(digit))) ++digits;
      power = point;
      return;
    }
    nextPlace();
  }
}

/** Returns whether the remainder plus the upper margin reaches the next unit. */
function reachesUnit(upwards: u64, inclusive: i32): bool {
  addTimes(above, rest, margin, upwards);
  return compare(above, unit) > -inclusive;
}

/** Returns whether to round up, to the nearer unit. A remainder of exactly one half is rounded to the even digit. */
function roundsUp(digit: u64): bool {
  addTimes(above, rest, rest, 1);
  const side = compare(above, unit);
  return side > 0 || (side == 0 && (digit & 1) != 0);
}

function nextPlace(): void {
  multiplyAdd(rest, 10, 0);
  multiplyAdd(margin, 10, 0);
}

/** Writes the decimal in JavaScript's format. */
function layOut(at: usize): usize {
  const count = <i32>itoa_buffered(at, digits);
  const point = count + power;
  const end = at + (count << 1);
  if (point > 0 && point <= PLAIN_DIGITS_MAX) {
    if (power >= 0) return putZeros(end, power);
    insert(at + (point << 1), end, 1);
    store<u16>(at + (point << 1), DOT);
    return end + 2;
  }
  if (point > -6 && point <= 0) {
    insert(at, end, 2 - point);
    putZeros(at, 2 - point);
    store<u16>(at + 2, DOT);
    return end + ((2 - point) << 1);
  }
  let next = end;
  if (count > 1) {
    insert(at + 2, end, 1);
    store<u16>(at + 2, DOT);
    next += 2;
  }
  store<u16>(next, 0x65);
  store<u16>(next + 2, point > 0 ? 0x2b : MINUS);
  const exponent = point > 0 ? point - 1 : 1 - point;
  return next + 4 + (<usize>itoa_buffered(next + 4, exponent) << 1);
}

/** Inserts space for a number of code units. */
function insert(at: usize, end: usize, units: i32): void {
  memory.copy(at + (units << 1), at, end - at);
}

function putZeros(at: usize, units: i32): usize {
  const end = at + (units << 1);
  for (; at < end; at += 2) store<u16>(at, ZERO);
  return end;
}
