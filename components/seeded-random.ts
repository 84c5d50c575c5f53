// SeededRandom: random numbers that depend on a seed alone: the same seed gives the same numbers (SplitMix64). It makes those of one
// call from its recorded seed, and those of a test. Nothing that has to be secret may come from it.

const STEP = 0x9e3779b97f4a7c15n;

export class SeededRandom {
  #state: bigint;

  constructor(seed: bigint) {
    this.#state = BigInt.asUintN(64, seed);
  }

  /** Returns 64 random bits. */
  next64(): bigint {
    this.#state = BigInt.asUintN(64, this.#state + STEP);
    let bits = this.#state;
    bits = BigInt.asUintN(64, (bits ^ (bits >> 30n)) * 0xbf58476d1ce4e5b9n);
    bits = BigInt.asUintN(64, (bits ^ (bits >> 27n)) * 0x94d049bb133111ebn);
    return bits ^ (bits >> 31n);
  }

  /** Returns a number from 0 up to, but not including, 1: 53 random bits. */
  next(): number {
    return Number(this.next64() >> 11n) / 2 ** 53;
  }
}
