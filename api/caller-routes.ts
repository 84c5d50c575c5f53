// CallerRoutes: makes routes behind the checks of every route with a token: who the caller is (401, 503), then how many requests
// the caller sends (429). The idempotency key of a request counts for its caller alone.
import { KEYS_RETRY_AFTER_S } from '@svc/client';
import {
  before,
  limited,
  respondError,
  type CheckedRoutes,
  type CheckRequest,
  type EndpointContext,
} from '@svc/host';
import { challengeOf } from '@svc/tokens/authorization-header';
import type { Subject, TokenOutcome } from '@svc/tokens/token-outcome';

/** Verifies the tokens of requests, as TokenVerifier does. */
export interface Verifier<Caller extends Subject> {
  /** `authorization`: the value of each header of this name. Never rejects. */
  verify(authorization: readonly string[]): Promise<TokenOutcome<Caller>>;
}

/** Limits of the requests of one caller in a minute; 0: none. */
export interface RequestLimits {
  readonly requestsPerMinuteMax: number;
  /** Requests that change something, which also count as requests. */
  readonly writesPerMinuteMax: number;
}

export const UNLIMITED: RequestLimits = { requestsPerMinuteMax: 0, writesPerMinuteMax: 0 };

/** A request whose token is good. */
export interface KnownCaller<Caller extends Subject> {
  readonly caller: Caller;
}

export interface CallerRoutesOptions<Caller extends Subject> {
  readonly verifier: Verifier<Caller>;
  readonly limits: RequestLimits;
  /** The end of the answer to a request without a token, such as "GET /auth says how to get one". */
  readonly tokenAdvice: string;
}

export class CallerRoutes<Caller extends Subject> {
  /** Routes that change nothing. */
  readonly reads: CheckedRoutes<KnownCaller<Caller>>;
  readonly writes: CheckedRoutes<KnownCaller<Caller>>;

  constructor({ verifier, limits, tokenAdvice }: CallerRoutesOptions<Caller>) {
    const authenticated = before((request, context) =>
      knownCaller(verifier, tokenAdvice, request, context),
    );
    this.reads = limitedTo(authenticated, limits.requestsPerMinuteMax);
    this.writes = limitedTo(this.reads, limits.writesPerMinuteMax);
  }
}

/** Returns who the caller is, to whom the idempotency key of the request is restricted; or the answer 401 or 503. */
async function knownCaller<Caller extends Subject>(
  verifier: Verifier<Caller>,
  tokenAdvice: string,
  { headers }: Pick<CheckRequest, 'headers'>,
  { scopeIdempotencyKey }: Pick<EndpointContext, 'scopeIdempotencyKey'>,
) {
  const values = headers.filter(([name]) => name === 'authorization').map(([, value]) => value);
  const outcome = await verifier.verify(values);
  switch (outcome.kind) {
    case 'known':
      scopeIdempotencyKey(outcome.caller.subject);
      return { caller: outcome.caller } satisfies KnownCaller<Caller>;
    case 'unavailable':
      return respondError(
        503,
        'the keys of the identity provider cannot be read, so no token can be judged: send the request again later',
        { headers: { 'retry-after': String(KEYS_RETRY_AFTER_S) } },
      );
    case 'missing':
      return respondError(
        401,
        `the request has no access token: send one as Authorization: Bearer TOKEN; ${tokenAdvice}`,
        { headers: { 'www-authenticate': challengeOf(outcome) } },
      );
    case 'refused':
      return respondError(401, outcome.reason, {
        headers: { 'www-authenticate': challengeOf(outcome) },
      });
  }
}

function limitedTo<Caller extends Subject>(
  authenticated: CheckedRoutes<KnownCaller<Caller>>,
  perMinute: number,
): CheckedRoutes<KnownCaller<Caller>> {
  if (perMinute === 0) return authenticated;
  return authenticated.before(
    limited<KnownCaller<Caller>>({ perMinute, by: (_, { given }) => given.caller.subject }),
  );
}
