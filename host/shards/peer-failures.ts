// PeerFailures: the two errors of a call or request that another shard did not answer. The caller may conclude from
// SVC_SHARD_UNAVAILABLE that nothing was done; after SVC_CALL_UNCERTAIN it is unknown whether anything was.
import { SvcError } from '@svc/kit/svc-error';

/** `backAtMs`: when the shard is started again, in milliseconds of `performance.now()`; absent if that is unknown. */
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
