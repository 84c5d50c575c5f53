// System implements the clock, random source, digest and event loop that the engine needs, with those of Node.
import { hash } from 'node:crypto';
import type { RandomSource, Clock, ServiceClock } from './engine/needs/clock.ts';
import type { Digest } from './engine/needs/digest.ts';
import type { EventLoop } from './engine/needs/event-loop.ts';

export const systemClock: Clock & Pick<ServiceClock, 'monotonicMs'> = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

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
