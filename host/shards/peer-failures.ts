// The two failures of a call or request that another shard did not answer. They differ in what their caller may conclude:
// SVC_SHARD_UNAVAILABLE says that nothing was done, SVC_CALL_UNCERTAIN that this is unknown.
import { SvcError } from '@svc/kit/svc-error';

/** `backAtMs`: when the shard is started again, where that is known, in milliseconds of `performance.now()`. */
export function shardUnavailable(backAtMs?: number): SvcError {
  const retryAfterMs = backAtMs === undefined ? undefined : backAtMs - performance.now();
  return new SvcError(
    'SVC_SHARD_UNAVAILABLE',
    'The shard to which the entity belongs is being started again, and the call was not sent to it. ' +
      'Try again.',
    { retryAfterMs },
  );
}

export function callUncertain(): SvcError {
  return new SvcError(
    'SVC_CALL_UNCERTAIN',
    'The shard to which the entity belongs ended while it worked on the call or request, so whether that was ' +
      'done is unknown. Look at the entity before it is made again, or give such requests an idempotency key.',
  );
}
