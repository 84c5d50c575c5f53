// TokenBuckets: counts of requests by key. A bucket holds as many tokens as there may be requests in a minute, loses one with
// each request, and is filled again at an even rate. Only the keys that were used last are kept.
//
// Invariants:
// - A bucket is stored as the time at which it is full again. A key that is not stored has a full bucket.
// - At most `keysMax` keys are stored, each as a digest, whose length does not depend on what a caller has sent.
// - A clock that is set back delays nobody by more than a minute.
import { hash } from 'node:crypto';

const MINUTE_MS = 60_000;

export class TokenBuckets {
  readonly #tokenMs: number;
  readonly #keysMax: number;
  /** Digest of the key → time at which its bucket is full, least recently used first. */
  readonly #fullAtMs = new Map<string, number>();

  constructor(perMinute: number, keysMax: number) {
    this.#tokenMs = MINUTE_MS / perMinute;
    this.#keysMax = keysMax;
  }

  /**
   * Takes a token, and returns 0. Returns the time in milliseconds until there is a token if there is none, in which case nothing
   * is taken.
   */
  take(key: string, nowMs: number): number {
    const digest = hash('sha256', key, 'base64');
    const lackMs = Math.min((this.#fullAtMs.get(digest) ?? nowMs) - nowMs, MINUTE_MS);
    const fullMs = Math.max(lackMs, 0) + this.#tokenMs;
    const isTaken = fullMs <= MINUTE_MS;
    this.#fullAtMs.delete(digest);
    this.#fullAtMs.set(digest, nowMs + (isTaken ? fullMs : lackMs));
    if (this.#fullAtMs.size > this.#keysMax) {
      const [oldest] = this.#fullAtMs.keys();
      this.#fullAtMs.delete(oldest!);
    }
    return isTaken ? 0 : fullMs - MINUTE_MS;
  }
}
