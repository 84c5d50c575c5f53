// Retries: which outcomes of a request are followed by sending it again, and after which pause. A write has the same
// Idempotency-Key each time, so the control plane makes its change once. A
// deletion whose outcome is unknown may find, when it is sent again, that its target is gone: then it is done.
import { ApiError, NoAnswerError } from './api-error.ts';

export interface RetryLimits {
  /** How often a request is sent at most, 1 or more. */
  readonly attemptsMax: number;
  /** Pause before the second attempt, in milliseconds; it doubles with each further one. */
  readonly pauseMs: number;
  /** Longest of these pauses, in milliseconds. */
  readonly pauseMsMax: number;
  /** Longest `Retry-After` that is waited for, in seconds; after a longer one the error is thrown at once. */
  readonly retryAfterSMax: number;
}

export const RETRY_LIMITS_DEFAULT: RetryLimits = {
  attemptsMax: 4,
  pauseMs: 200,
  pauseMsMax: 5000,
  retryAfterSMax: 30,
};

/**
 * Returns the pause before the request is sent again, in milliseconds; undefined if it is not sent again. `attempt`: the
 * number of the attempt that failed, from 1 on. `random`: a number from 0 up to 1, which spreads the requests of many
 * clients over the second half of the pause.
 */
export function pauseAfter(
  error: unknown,
  attempt: number,
  limits: RetryLimits,
  random: number,
): number | undefined {
  if (attempt >= limits.attemptsMax || !isPassing(error)) return undefined;
  const longest = Math.min(limits.pauseMsMax, limits.pauseMs * 2 ** (attempt - 1));
  const pauseMs = longest * (0.5 + random / 2);
  const retryAfterS = error instanceof ApiError ? (error.retryAfterS ?? 0) : 0;
  if (retryAfterS > limits.retryAfterSMax) return undefined;
  return Math.max(pauseMs, retryAfterS * 1000);
}

/** Returns whether an attempt that failed with the error may have made its change. */
export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof NoAnswerError || (error instanceof ApiError && error.status === 504);
}

/** Returns whether the answer means that there is nothing to delete. */
export function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

function isPassing(error: unknown): boolean {
  if (error instanceof ApiError) return error.status === 503 || error.status === 504;
  return (
    error instanceof NoAnswerError && (error.kind === 'connection' || error.kind === 'timeout')
  );
}

/** Longest time of a timer, in milliseconds; a longer one ends at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/** Waits; rejects with the signal's reason as soon as it is aborted. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      },
      Math.min(ms, TIMER_MS_MAX),
    );
    if (signal?.aborted === true) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
