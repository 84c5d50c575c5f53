// Natural numbers as decimal digits, the most significant first and without leading zeros; zero has no digits.
// Callers bound the lengths, so that every function ends after a bounded number of steps.

export type Digits = StaticArray<u8>;

export const NO_DIGITS: Digits = new StaticArray<u8>(0);

export function digitsOf(value: u64): Digits {
  let count = 0;
  for (let rest = value; rest > 0; rest /= 10) ++count;
  const digits = new StaticArray<u8>(count);
  for (let rest = value; rest > 0; rest /= 10) digits[--count] = <u8>(rest % 10);
  return digits;
}

/** Returns the number without leading zeros. */
export function trimmed(digits: Digits): Digits {
  let from = 0;
  while (from < digits.length && digits[from] == 0) ++from;
  return from == 0 ? digits : part(digits, from, digits.length);
}

/** Returns the digits from index `from` up to, but without, index `to`. */
export function part(digits: Digits, from: i32, to: i32): Digits {
  const found = new StaticArray<u8>(to - from);
  memory.copy(changetype<usize>(found), changetype<usize>(digits) + <usize>from, to - from);
  return found;
}

/** Returns the number times ten to the power of `zeros`. */
export function shifted(digits: Digits, zeros: i32): Digits {
  if (zeros == 0 || digits.length == 0) return digits;
  const found = new StaticArray<u8>(digits.length + zeros);
  memory.copy(changetype<usize>(found), changetype<usize>(digits), digits.length);
  return found;
}

/** Compares two numbers; returns -1, 0 or 1. */
export function compareDigits(a: Digits, b: Digits): i32 {
  if (a.length != b.length) return a.length < b.length ? -1 : 1;
  const order = memory.compare(changetype<usize>(a), changetype<usize>(b), a.length);
  return order == 0 ? 0 : order < 0 ? -1 : 1;
}

export function addDigits(a: Digits, b: Digits): Digits {
  const length = max(a.length, b.length) + 1;
  const sum = new StaticArray<u8>(length);
  let carry: u32 = 0;
  for (let i = 1; i <= length; ++i) {
    let value = carry;
    if (i <= a.length) value += a[a.length - i];
    if (i <= b.length) value += b[b.length - i];
    carry = value >= 10 ? 1 : 0;
    sum[length - i] = <u8>(value - carry * 10);
  }
  return trimmed(sum);
}

/** Returns `a - b`, where `a` is at least `b`. */
export function subtractDigits(a: Digits, b: Digits): Digits {
  const difference = part(a, 0, a.length);
  subtractFrom(difference, b);
  return trimmed(difference);
}

/** Subtracts `b`, aligned at the last digit, from `from`, which is at least as large. */
function subtractFrom(from: Digits, b: Digits): void {
  let borrow: i32 = 0;
  for (let i = 1; i <= from.length; ++i) {
    let value = <i32>from[from.length - i] - borrow;
    if (i <= b.length) value -= <i32>b[b.length - i];
    else if (borrow == 0) return;
    borrow = value < 0 ? 1 : 0;
    from[from.length - i] = <u8>(value + borrow * 10);
  }
}

export function multiplyDigits(a: Digits, b: Digits): Digits {
  const product = new StaticArray<u8>(a.length + b.length);
  for (let i = a.length - 1; i >= 0; --i) {
    let carry: u32 = 0;
    for (let j = b.length - 1; j >= 0; --j) {
      const value = <u32>a[i] * <u32>b[j] + <u32>product[i + j + 1] + carry;
      carry = value / 10;
      product[i + j + 1] = <u8>(value % 10);
    }
    product[i] = <u8>carry;
  }
  return trimmed(product);
}

/** A quotient, and how the remainder compares with half of the divisor. */
export class Quotient {
  constructor(
    public digits: Digits,
    public isExact: bool,
    /** -1: the remainder is less than half of the divisor, 0: equal, 1: more. */
    public comparedToHalf: i32,
  ) {}
}

/** Divides by `b`, which is not zero, by long division, one digit at a time. */
export function divideDigits(a: Digits, b: Digits): Quotient {
  const quotient = new StaticArray<u8>(a.length);
  // One digit longer than the divisor: the remainder times ten, plus the next digit.
  const length = b.length + 1;
  const rest = new StaticArray<u8>(length);
  const at = changetype<usize>(rest);
  for (let i = 0; i < a.length; ++i) {
    memory.copy(at, at + 1, length - 1);
    rest[length - 1] = a[i];
    let count: u8 = 0;
    while (rest[0] != 0 || memory.compare(at + 1, changetype<usize>(b), b.length) >= 0) {
      subtractFrom(rest, b);
      ++count;
    }
    quotient[i] = count;
  }
  const left = trimmed(rest);
  return new Quotient(trimmed(quotient), left.length == 0, compareDigits(addDigits(left, left), b));
}
