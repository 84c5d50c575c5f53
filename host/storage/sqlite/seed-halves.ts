// SeedHalves splits a seed into two numbers of 32 bits, the upper one signed, because a bigint costs many times as much in
// messages and in SQLite. Null stands for no seed, as in records of format 1.

const word = new DataView(new ArrayBuffer(8));

/** The upper half of `seed`, as SQLite's `seed >> 32`. */
export function upperHalf(seed: bigint | undefined): number | null {
  if (seed === undefined) return null;
  word.setBigUint64(0, seed);
  return word.getInt32(0);
}

/** The lower half of `seed`, as SQLite's `seed & 4294967295`. */
export function lowerHalf(seed: bigint | undefined): number | null {
  if (seed === undefined) return null;
  word.setBigUint64(0, seed);
  return word.getUint32(4);
}

/** The seed with these halves; undefined where one of them is null. */
export function seedOf(upper: number | null, lower: number | null): bigint | undefined {
  if (upper === null || lower === null) return undefined;
  word.setInt32(0, upper);
  word.setUint32(4, lower);
  return word.getBigUint64(0);
}
