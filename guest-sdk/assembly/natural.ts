// Natural numbers beyond 64 bits: limbs of 32 bits, the least significant first. Numbers of one computation share the
// count of their limbs: in each number, those at and above the count are zero.

export type Natural = StaticArray<u32>;

/** Limbs of every number. A number below 10^1144, with 64 bits more for shifting, needs 3,900 of these 4,096 bits. */
const LIMBS: i32 = 128;

let used: i32 = 1;

export function newNatural(): Natural {
  return new StaticArray<u32>(LIMBS);
}

export function setNatural(limbs: Natural, value: u64): void {
  memory.fill(changetype<usize>(limbs), 0, LIMBS << 2);
  unchecked((limbs[0] = <u32>value));
  unchecked((limbs[1] = <u32>(value >> 32)));
}

/** Sets how many limbs the next computation uses; multiplications and sums increase the number when they need more. */
export function useLimbs(count: i32): void {
  used = count;
}

export function multiplyAdd(limbs: Natural, factor: u64, carry: u64): void {
  for (let i = 0; i < used; ++i) {
    const value = <u64>unchecked(limbs[i]) * factor + carry;
    unchecked((limbs[i] = <u32>value));
    carry = value >> 32;
  }
  if (carry != 0) unchecked((limbs[used++] = <u32>carry));
}

export function scale(limbs: Natural, powerOfTen: i32): void {
  for (; powerOfTen >= 9; powerOfTen -= 9) multiplyAdd(limbs, 1_000_000_000, 0);
  for (; powerOfTen > 0; --powerOfTen) multiplyAdd(limbs, 10, 0);
}

export function bitLength(limbs: Natural): i32 {
  for (let i = used - 1; i >= 0; --i) {
    const limb = unchecked(limbs[i]);
    if (limb != 0) return (i << 5) + 32 - <i32>clz(limb);
  }
  return 0;
}

export function shiftLeft(limbs: Natural, bits: i32): void {
  const whole = bits >> 5;
  const part = bits & 31;
  for (let i = used - 1; i >= 0; --i) {
    const high: u64 = i - whole >= 0 ? unchecked(limbs[i - whole]) : 0;
    const low: u64 = i - whole - 1 >= 0 ? unchecked(limbs[i - whole - 1]) : 0;
    unchecked((limbs[i] = <u32>((((high << 32) | low) << part) >> 32)));
  }
}

/** Returns a negative number, zero or a positive number for a < b, a == b, a > b. */
export function compare(a: Natural, b: Natural): i32 {
  for (let i = used - 1; i >= 0; --i) {
    const left = unchecked(a[i]);
    const right = unchecked(b[i]);
    if (left != right) return left < right ? -1 : 1;
  }
  return 0;
}

/** Computes a -= b, where b is at most a. */
export function subtract(a: Natural, b: Natural): void {
  let borrow: i64 = 0;
  for (let i = 0; i < used; ++i) {
    const value = <i64>unchecked(a[i]) - <i64>unchecked(b[i]) + borrow;
    unchecked((a[i] = <u32>value));
    borrow = value >> 32;
  }
}

/** Computes sum = a + b × factor; the sum may need a limb more than both. */
export function addTimes(sum: Natural, a: Natural, b: Natural, factor: u64): void {
  let carry: u64 = 0;
  for (let i = 0; i < used; ++i) {
    const value = <u64>unchecked(a[i]) + <u64>unchecked(b[i]) * factor + carry;
    unchecked((sum[i] = <u32>value));
    carry = value >> 32;
  }
  unchecked((sum[used] = <u32>carry));
  if (carry != 0) ++used;
}
