// System implements the clock, random source, digest and event loop that the engine needs, with those of Node.
import { hash } from 'node:crypto';
import type { RandomSource, Clock } from './engine/needs/clock.ts';
import type { Digest } from './engine/needs/digest.ts';
import type { EventLoop } from './engine/needs/event-loop.ts';

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

const MS_PER_SECOND = 1_000;
const NS_PER_MS = 1_000_000;

/** Returns milliseconds that never go back, the same in all threads: each has its own origin of `performance.now()`. */
export function machineMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * MS_PER_SECOND + nanoseconds / NS_PER_MS;
}

export const systemEventLoop: EventLoop = {
  yield: () => new Promise((resolve) => setImmediate(resolve)),
};

/** A cryptographically strong random source. It draws in blocks, since each draw costs a system call. */
export function systemRandom(): RandomSource {
  const block = new BigUint64Array(512);
  let next = block.length;
  return {
    next64() {
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
