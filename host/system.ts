// The system's clock and chance, for those who have none of their own.
import type { Chance, Clock } from './engine/needs/clock.ts';

export const systemClock: Clock = { nowMs: () => Date.now() };

/** Cryptographically strong. Drawn in blocks: one draw at a time costs a system call each. */
export function systemChance(): Chance {
  const block = new BigUint64Array(512);
  let next = block.length;
  return {
    seed() {
      if (next === block.length) {
        crypto.getRandomValues(block);
        next = 0;
      }
      return block[next++]!;
    },
  };
}
