// RequestBucket: the arithmetic of a token bucket that counts requests. It holds `count` tokens, loses one with each request that is let
// through, and is filled evenly, by `count` tokens in `periodMs`. It is stored as one number, the time at which it is full again.
//
// Invariants:
// - A bucket that is full lets exactly `count` requests through at one time.
// - A refused request takes nothing.
// - A clock that is set back delays no request by more than `periodMs`.
import type { HeaderList } from './endpoint.ts';

export interface BucketRate {
  readonly count: number;
  readonly periodMs: number;
}

/** Answer of a bucket to a request. */
export interface BucketAnswer {
  readonly isTaken: boolean;
  /** Time at which the bucket is full, as it is stored from now on. */
  readonly fullAtMs: number;
  /** Milliseconds until the bucket has a token for the request; 0: it was let through. */
  readonly waitMs: number;
  /** Whole tokens that are left. */
  readonly remaining: number;
}

const MS_PER_SECOND = 1_000;
/** Part of a token that may be lacking, because the times are rounded. It lacks afterwards, so nobody gains by it. */
const ROUNDING = 1e-3;

/** Takes a token from a bucket that is full at `fullAtMs`. A time that has passed stands for a full bucket. */
export function takeToken(
  fullAtMs: number,
  nowMs: number,
  { count, periodMs }: BucketRate,
): BucketAnswer {
  const tokenMs = periodMs / count;
  const missingMs = Math.max(fullAtMs - nowMs, 0);
  const lackMs = missingMs > periodMs + tokenMs ? periodMs : missingMs;
  const nextMs = lackMs + tokenMs;
  const isTaken = nextMs <= periodMs + tokenMs * ROUNDING;
  const left = (periodMs - (isTaken ? nextMs : lackMs)) / tokenMs;
  return {
    isTaken,
    fullAtMs: nowMs + (isTaken ? nextMs : lackMs),
    waitMs: isTaken ? 0 : nextMs - periodMs,
    remaining: Math.max(0, Math.floor(left + ROUNDING)),
  };
}

/** Returns whole seconds, at least one. */
export function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / MS_PER_SECOND));
}

/** Returns the headers that tell a caller how much of a limit is left. `resetS`: seconds until more is let through. */
export function limitHeaders(count: number, remaining: number, resetS: number): HeaderList {
  return [
    ['ratelimit-limit', String(count)],
    ['ratelimit-remaining', String(remaining)],
    ['ratelimit-reset', String(resetS)],
  ];
}
