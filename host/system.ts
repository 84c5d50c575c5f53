// The system's clock, chance, digest and event loop, for those who have none of their own.
import { hash } from 'node:crypto';
import type { Chance, Clock } from './engine/needs/clock.ts';
import type { Digest } from './engine/needs/digest.ts';
import type { Turn } from './engine/needs/turn.ts';

export const systemClock: Clock = { nowMs: () => Date.now() };

export const systemTurn: Turn = { next: () => new Promise((resolve) => setImmediate(resolve)) };

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

/** The first half of a SHA-256, in hexadecimal digits. */
export const systemDigest: Digest = (text) => hash('sha256', text, 'hex').slice(0, 32);
