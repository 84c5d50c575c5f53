// RateLimit: a check that lets each caller make so many requests in a minute, and answers 429 beyond that. Each service counts
// for itself, over all routes behind the same limit.
import { limitHeaders, wholeSeconds } from '@svc/model/request-bucket';
import type { AnyCheck, CheckDefinition, Declared } from './check-definition.ts';
import { ErrorResponse } from './route-answer.ts';
import type { CheckedContext, CheckRequest } from './route-request.ts';
import { invalidDefinition } from './shape.ts';
import { TokenBuckets } from './token-buckets.ts';

const KEYS_MAX = 10_000;
const PER_MINUTE_MAX = 1_000_000;
const KEYS_RANGE_MAX = 1_000_000;

export interface RateLimitOptions<Given> {
  /**
   * Requests of one caller that are let through: so many at once, and then one whenever a minute has passed by that part. From 1 to
   * 1,000,000.
   */
  readonly perMinute: number;
  /**
   * Returns a text that identifies the caller, such as the subject that the check before it has found. The requests of
   * `undefined` are not limited.
   */
  readonly by: (request: CheckRequest, context: CheckedContext<Given>) => string | undefined;
  /** Callers that are counted; those that were not seen for the longest time are forgotten. Default: 10,000. */
  readonly keysMax?: number;
}

export class RateLimit<Given> implements CheckDefinition {
  readonly declared: Declared;
  readonly #options: Required<RateLimitOptions<Given>>;

  constructor({ perMinute, by, keysMax = KEYS_MAX }: RateLimitOptions<Given>) {
    checkRange('perMinute', perMinute, PER_MINUTE_MAX);
    checkRange('keysMax', keysMax, KEYS_RANGE_MAX);
    this.#options = { perMinute, by, keysMax };
    this.declared = {
      refusals: { 429: `the caller makes more than ${perMinute} requests a minute` },
    };
  }

  start(): AnyCheck {
    const { perMinute, by, keysMax } = this.#options;
    const buckets = new TokenBuckets(perMinute, keysMax);
    return (request, context) => {
      const key = by(request, context as CheckedContext<Given>);
      const waitMs = key === undefined ? 0 : buckets.take(key, context.nowMs);
      return waitMs === 0 ? context.given : tooManyRequests(perMinute, waitMs);
    };
  }
}

/**
 * Limits the requests of each caller: `before(limited({ perMinute: 60, by: ({ header }) => header('x-key') }))`. Beyond the
 * limit the answer is 429 with `Retry-After` and `RateLimit-…`. Throws SVC_DEFINITION_INVALID for a number that is out of range.
 */
export function limited<Given = null>(options: RateLimitOptions<Given>): RateLimit<Given> {
  return new RateLimit(options);
}

function tooManyRequests(perMinute: number, waitMs: number): ErrorResponse {
  const seconds = wholeSeconds(waitMs);
  const error = `There are more than ${perMinute} requests a minute. Try again in ${seconds} s.`;
  // A client may use either of the two times: they are the same.
  const limit = Object.fromEntries(limitHeaders(perMinute, 0, seconds));
  return new ErrorResponse(429, error, {
    headers: { 'retry-after': String(seconds), ...limit },
  });
}

function checkRange(option: string, value: number, max: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= max) return;
  throw invalidDefinition(
    'limited',
    `${option} is ${String(value)}`,
    `Write a whole number from 1 to ${max}.`,
  );
}
