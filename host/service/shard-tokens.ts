// ShardTokens verifies the access tokens of a shard's requests: those that were found good a short time ago by itself, all others by
// the main thread (token-verification.ts), which has the keys. A thread that runs a module asks no identity provider anything.
//
// Invariant: at most `verifyingMax` tokens wait for the main thread. A request is in flight no more when its caller has left, but its
// token still waits, so the limit of requests in flight alone would not bound them.
import type { MessagePort } from 'node:worker_threads';
import type { Clock } from '@svc/kit/clock';
import { TokenCache } from '@svc/tokens/token-cache';
import type { TokenOutcome } from '@svc/tokens/token-outcome';
import type { RequestPrincipal, RequestTokens } from '../http/bearer.ts';
import type { Awaitable } from '@svc/model/call';
import { WorkLink } from '../shards/work-link.ts';

/** The answer of the main thread. */
export type VerifiedOutcome = TokenOutcome<CachedPrincipal>;

export interface CachedPrincipal extends RequestPrincipal {
  /** Expiry time of the token, in milliseconds since 1970. */
  readonly expiresMs: number;
}

type Outcome = TokenOutcome<RequestPrincipal>;

/** Answer while the main thread answers nothing, or too many tokens wait for it. */
const AWAY: VerifiedOutcome = { kind: 'unavailable', retryAfterS: 1 };

export class ShardTokens implements RequestTokens {
  readonly #known: TokenCache<CachedPrincipal>;
  readonly #linked = Promise.withResolvers<void>();
  readonly #verifyingMax: number;
  #verifying = 0;
  #link: WorkLink<readonly string[], VerifiedOutcome> | undefined;

  /**
   * `cachedTokensMax`: how many good tokens are remembered, each for a minute at most. `verifyingMax`: how many are verified at a
   * time.
   */
  constructor(clock: Clock, cachedTokensMax: number, verifyingMax: number) {
    this.#verifyingMax = verifyingMax;
    this.#known = new TokenCache(clock, cachedTokensMax);
  }

  /** Asks at this port from now on. Until the first one is there, requests wait. */
  connect(port: MessagePort): void {
    this.#link?.close();
    this.#link = new WorkLink(port, AWAY);
    this.#linked.resolve();
  }

  verify(authorization: readonly string[]): Awaitable<Outcome> {
    const [value, ...others] = authorization;
    if (value === undefined) return { kind: 'missing' };
    const caller = others.length === 0 ? this.#known.find(value) : undefined;
    if (caller !== undefined) return { kind: 'known', caller };
    return this.#verifying < this.#verifyingMax ? this.#ask(authorization, value) : AWAY;
  }

  close(): void {
    this.#link?.close();
  }

  async #ask(authorization: readonly string[], value: string): Promise<Outcome> {
    this.#verifying += 1;
    await this.#linked.promise;
    const outcome = await this.#link!.send(authorization);
    this.#verifying -= 1;
    if (outcome.kind === 'known') this.#known.set(value, outcome.caller);
    return outcome;
  }
}
