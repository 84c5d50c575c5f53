// RandomDoubles: doubles with random bits, the same in each run.

/** The generator xorshift with a fixed seed. */
export function* randomBits(seed: bigint): Generator<bigint, never> {
  let state = seed;
  for (;;) {
    state ^= (state << 13n) & 0xffff_ffff_ffff_ffffn;
    state ^= state >> 7n;
    state ^= (state << 17n) & 0xffff_ffff_ffff_ffffn;
    yield state;
  }
}

export function doubleOf(pattern: bigint): number {
  return new Float64Array(BigUint64Array.of(pattern).buffer)[0]!;
}
