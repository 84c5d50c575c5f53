// TokenBuckets: counts of requests by key. A bucket holds as many tokens as there may be requests in a minute, loses one with
// each request, and is filled again at an even rate. Only the keys that were used last are kept.
//
// Invariants:
// - A bucket is stored as the time at which it is full again. A key that is not stored has a full bucket.
// - At most `keysMax` keys are stored, each as a digest, whose length does not depend on what a caller has sent.
// - A clock that is set back delays nobody by more than a minute.
import { hash } from 'node:crypto';
import { type BucketRate, takeToken } from '@svc/model/request-bucket';

const MINUTE_MS = 60_000;

export class TokenBuckets {
  readonly #rate: BucketRate;
  readonly #keysMax: number;
  /** Digest of the key → time at which its bucket is full, least recently used first. */
  readonly #fullAtMs = new Map<string, number>();

  constructor(perMinute: number, keysMax: number) {
    this.#rate = { count: perMinute, periodMs: MINUTE_MS };
    this.#keysMax = keysMax;
  }

  /**
   * Takes a token, and returns 0. Returns the time in milliseconds until there is a token if there is none, in which case nothing
   * is taken.
   */
  take(key: string, nowMs: number): number {
    const digest = hash('sha256', key, 'base64');
    const { fullAtMs, waitMs } = takeToken(this.#fullAtMs.get(digest) ?? nowMs, nowMs, this.#rate);
    this.#fullAtMs.delete(digest);
    this.#fullAtMs.set(digest, fullAtMs);
    if (this.#fullAtMs.size > this.#keysMax) {
      const [oldest] = this.#fullAtMs.keys();
      this.#fullAtMs.delete(oldest!);
    }
    return waitMs;
  }
}
