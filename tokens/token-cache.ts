// TokenCache: keeps which tokens were found good, so that their signatures are verified once a minute instead of at each
// request. A dump of the memory shows digests, from which no token can be made.
//
// Invariants
// C1  Nothing is kept for more than a minute, or past the expiry time of the token.
// C2  At most `max` tokens are kept; the one that was verified first gives way.
import { hash } from 'node:crypto';
import type { Clock } from '@svc/kit/clock';

/** The facts that are kept of a token that was found good. */
interface Expiring {
  /** Expiry time in milliseconds since 1970. */
  readonly expiresMs: number;
}

const KEPT_MS = 60_000;

export class TokenCache<Entry extends Expiring> {
  readonly #clock: Clock;
  readonly #max: number;
  readonly #byDigest = new Map<string, { readonly entry: Entry; readonly untilMs: number }>();

  constructor(clock: Clock, max: number) {
    this.#clock = clock;
    this.#max = max;
  }

  get size(): number {
    return this.#byDigest.size;
  }

  find(token: string): Entry | undefined {
    const digest = digestOf(token);
    const found = this.#byDigest.get(digest);
    if (found === undefined) return undefined;
    const { entry, untilMs } = found;
    if (this.#clock.monotonicMs() < untilMs && this.#clock.nowMs() < entry.expiresMs) return entry;
    this.#byDigest.delete(digest);
    return undefined;
  }

  set(token: string, entry: Entry): void {
    if (this.#max === 0) return;
    const digest = digestOf(token);
    // Deleted first, so that the order of the map is that of verification.
    this.#byDigest.delete(digest);
    const [first] = this.#byDigest.keys();
    if (first !== undefined && this.#byDigest.size >= this.#max) this.#byDigest.delete(first);
    this.#byDigest.set(digest, { entry, untilMs: this.#clock.monotonicMs() + KEPT_MS });
  }

  delete(token: string): void {
    this.#byDigest.delete(digestOf(token));
  }
}

function digestOf(token: string): string {
  return hash('sha256', token, 'base64');
}
