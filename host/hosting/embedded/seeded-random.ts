// SeededRandom: the random numbers of one call, derived from its recorded seed: the same seed gives the same
// numbers.

const STEP = 0x9e3779b97f4a7c15n;

export class SeededRandom {
  #state: bigint;

  constructor(seed: bigint) {
    this.#state = BigInt.asUintN(64, seed);
  }

  /** Returns a number from 0 up to, but not including, 1: 53 random bits (SplitMix64). */
  next(): number {
    this.#state = BigInt.asUintN(64, this.#state + STEP);
    let bits = this.#state;
    bits = BigInt.asUintN(64, (bits ^ (bits >> 30n)) * 0xbf58476d1ce4e5b9n);
    bits = BigInt.asUintN(64, (bits ^ (bits >> 27n)) * 0x94d049bb133111ebn);
    bits ^= bits >> 31n;
    return Number(bits >> 11n) / 2 ** 53;
  }
}
