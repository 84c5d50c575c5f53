// SeedHalves splits the 64-bit random seed of a command into two 32-bit numbers, the upper one signed, because a bigint
// is many times slower in messages and in SQLite. Null means that there is no seed, as in records of format 1.

const word = new DataView(new ArrayBuffer(8));

/** Returns the upper half of `seed`: the value of `seed >> 32` in SQLite. */
export function upperHalf(seed: bigint | undefined): number | null {
  if (seed === undefined) return null;
  word.setBigUint64(0, seed);
  return word.getInt32(0);
}

/** Returns the lower half of `seed`: the value of `seed & 4294967295` in SQLite. */
export function lowerHalf(seed: bigint | undefined): number | null {
  if (seed === undefined) return null;
  word.setBigUint64(0, seed);
  return word.getUint32(4);
}

/** Returns the seed with these halves; undefined if one of them is null. */
export function seedOf(upper: number | null, lower: number | null): bigint | undefined {
  if (upper === null || lower === null) return undefined;
  word.setInt32(0, upper);
  word.setUint32(4, lower);
  return word.getBigUint64(0);
}
