// Parses numbers of JSON text exactly: to the nearest double, ties to even. The standard library's parser returns
// another double for some decimals.
import { Natural, bitLength, multiplyAdd, newNatural, scale, setNatural, shiftLeft, useLimbs } from "./natural";

export const MINUS: u32 = 0x2d;
export const DOT: u32 = 0x2e;
export const ZERO: u32 = 0x30;

/** Maximum number of digits that are read: of all further ones, it matters only whether one of them is not zero. */
const DIGITS_MAX: i32 = 800;

/** Powers of ten that a double represents exactly. */
// prettier-ignore
export const EXACT_POWERS: StaticArray<f64> = [
  1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
  1e18, 1e19, 1e20, 1e21, 1e22,
];

/** Returns the double nearest to a number of JSON's grammar; infinity when the number is too large. */
export function doubleOfToken(start: usize, end: usize): f64 {
  return realOfToken(start, end, false);
}

/**
 * Returns the float nearest to a number of JSON's grammar; infinity when the number is too large. Rounding twice is
 * wrong only when the nearest double is exactly between two floats.
 */
export function floatOfToken(start: usize, end: usize): f32 {
  const double = realOfToken(start, end, false);
  const float = <f32>double;
  // The other float at the same distance, when there is one.
  const other = isFinite(float) ? 2 * double - <f64>float : double;
  if (<f64>float == double || (isFinite(float) && <f64><f32>other != other)) return float;
  return <f32>realOfToken(start, end, true);
}

/** Returns the number, rounded once. `toOdd`: rounds an inexact value to the odd neighbour, for a second rounding. */
function realOfToken(start: usize, end: usize, toOdd: bool): f64 {
  let at = start;
  const negative = load<u16>(at) == MINUS;
  if (negative) at += 2;
  const digitsStart = at;
  let significant = 0;
  let mantissa: u64 = 0;
  let exponent = 0;
  let afterDot = false;
  for (; at < end; at += 2) {
    const unit = <u32>load<u16>(at);
    if (unit == DOT) {
      afterDot = true;
      continue;
    }
    const digit = unit - ZERO;
    if (digit > 9) break;
    if (afterDot) --exponent;
    if (significant == 0 && digit == 0) continue;
    if (significant < 19) mantissa = mantissa * 10 + digit;
    ++significant;
  }
  const digitsEnd = at;
  exponent += readExponent(at, end);
  const value =
    mantissa == 0
      ? 0
      : !toOdd && significant <= 19 && mantissa <= 1 << 53 && exponent >= -22 && exponent <= 22
        ? exponent < 0
          ? <f64>mantissa / unchecked(EXACT_POWERS[-exponent])
          : <f64>mantissa * unchecked(EXACT_POWERS[exponent])
        : roundedDouble(digitsStart, digitsEnd, significant, exponent, toOdd);
  return negative ? -value : value;
}

/** Reads an exponent. `at` is at an `e` or at the end. The result is limited to a range far beyond a double's. */
function readExponent(at: usize, end: usize): i32 {
  if (at >= end) return 0;
  at += 2;
  let negative = false;
  const sign = <u32>load<u16>(at);
  if (sign == MINUS || sign == 0x2b) {
    negative = sign == MINUS;
    at += 2;
  }
  let value = 0;
  for (; at < end; at += 2) {
    if (value < 100_000_000) value = value * 10 + (<i32>load<u16>(at) - <i32>ZERO);
  }
  return negative ? -value : value;
}

// The numbers are reused, since values that need them often follow one another.
// @ts-ignore: decorator
@lazy const numerator = newNatural();
// @ts-ignore: decorator
@lazy const denominator = newNatural();

/** Returns digits × 10^exponent, rounded once from 64 bits of the quotient and the remainder. */
function roundedDouble(start: usize, end: usize, significant: i32, exponent: i32, toOdd: bool): f64 {
  if (significant + exponent > 310) return Infinity;
  if (significant + exponent < -330) return 0;
  const above = numerator;
  const below = denominator;
  setNatural(above, 0);
  setNatural(below, 1);
  useLimbs(1);
  exponent += readDigits(above, start, end);
  if (exponent > 0) scale(above, exponent);
  else scale(below, -exponent);
  // The quotient above / below × 2^shift is between 2^62 and 2^64.
  const shift = 63 - (bitLength(above) - bitLength(below));
  // This shift fills the highest limb of `below`, so that the guesses of the division are good.
  const whole = shift < 0 ? (31 - shift) & ~31 : 0;
  const belowShift = whole + (-bitLength(below) & 31);
  const belowLimbs = (bitLength(below) + belowShift) >> 5;
  useLimbs(belowLimbs + 2);
  shiftLeft(below, belowShift);
  shiftLeft(above, belowShift + shift);
  const high = divide(above, below, belowLimbs, 1);
  const low = divide(above, below, belowLimbs, 0);
  return assemble((high << 32) | low, shift, bitLength(above) != 0, toOdd);
}

/**
 * Returns the digit of the quotient at index `place`, in base 2^32; `above` keeps the remainder. The digit is guessed
 * from the highest limbs, is at most one too large, and is then corrected (Knuth's algorithm D).
 */
function divide(above: Natural, below: Natural, count: i32, place: i32): u64 {
  const top = <u64>unchecked(below[count - 1]);
  const second = count > 1 ? <u64>unchecked(below[count - 2]) : 0;
  const third = count > 1 ? <u64>unchecked(above[place + count - 2]) : 0;
  const head = (<u64>unchecked(above[place + count]) << 32) | unchecked(above[place + count - 1]);
  let digit = head / top;
  let rest = head % top;
  while (rest >> 32 == 0 && (digit >> 32 != 0 || digit * second > ((rest << 32) | third))) {
    --digit;
    rest += top;
  }
  let carry: u64 = 0;
  let borrow: i64 = 0;
  for (let i = 0; i < count; ++i) {
    const product = digit * <u64>unchecked(below[i]) + carry;
    carry = product >> 32;
    const value = <i64>unchecked(above[place + i]) - <i64>(product & 0xffffffff) + borrow;
    unchecked((above[place + i] = <u32>value));
    borrow = value >> 32;
  }
  const value = <i64>unchecked(above[place + count]) - <i64>carry + borrow;
  unchecked((above[place + count] = <u32>value));
  if (value >= 0) return digit;
  carry = 0;
  for (let i = 0; i < count; ++i) {
    const sum = <u64>unchecked(above[place + i]) + <u64>unchecked(below[i]) + carry;
    unchecked((above[place + i] = <u32>sum));
    carry = sum >> 32;
  }
  unchecked((above[place + count] += <u32>carry));
  return digit - 1;
}

/** Reads the first digits, and a 1 for all others unless they are zero; returns how many digits `limbs` then lacks. */
function readDigits(limbs: Natural, start: usize, end: usize): i32 {
  let count = 0;
  let left = 0;
  let sticky = false;
  for (let at = start; at < end; at += 2) {
    const digit = <u32>load<u16>(at) - ZERO;
    if (digit > 9 || (count == 0 && digit == 0)) continue;
    if (count < DIGITS_MAX) multiplyAdd(limbs, 10, digit);
    else {
      ++left;
      if (digit != 0) sticky = true;
    }
    ++count;
  }
  if (!sticky) return left;
  multiplyAdd(limbs, 10, 1);
  return left - 1;
}

/**
 * Returns quotient × 2^-shift; `sticky`: there was a remainder. Rounds to the nearest double, ties to even; with
 * `toOdd`, rounds down, and sets the last bit when the result is inexact.
 */
function assemble(quotient: u64, shift: i32, sticky: bool, toOdd: bool): f64 {
  const length = 64 - <i32>clz(quotient);
  const exponent = length - 1 - shift;
  if (exponent > 1023) return Infinity;
  const precision = exponent < -1022 ? 53 - (-1022 - exponent) : 53;
  const drop = length - precision;
  if (drop > 64) return 0;
  let mantissa = drop == 64 ? 0 : quotient >> drop;
  const half = <u64>1 << (drop - 1);
  const rest = drop == 64 ? quotient : quotient & ((<u64>1 << drop) - 1);
  if (toOdd) mantissa |= <u64>(rest != 0 || sticky);
  else if (rest > half || (rest == half && (sticky || (mantissa & 1) != 0))) ++mantissa;
  if (exponent < -1022) return reinterpret<f64>(mantissa);
  // A carry out of the mantissa increments the exponent, up to infinity.
  return reinterpret<f64>((<u64>(exponent + 1023) << 52) + (mantissa - (<u64>1 << 52)));
}
