// PeerFailures: the two errors of a call or request that another shard or node did not answer. The caller may conclude from
// SVC_SHARD_UNAVAILABLE that nothing was done; after SVC_CALL_UNCERTAIN it is unknown whether anything was.
import { SvcError } from '@svc/kit/svc-error';

/** The other side of a link: a thread of this node, or another node. */
export type PeerKind = 'shard' | 'node';

const UNAVAILABLE: Readonly<Record<PeerKind, string>> = {
  shard: 'The shard to which the entity belongs is being started again',
  node: 'The node to which the entity belongs cannot be reached',
};
const ENDED: Readonly<Record<PeerKind, string>> = {
  shard: 'The shard to which the entity belongs ended',
  node: 'The connection to the node to which the entity belongs ended',
};

/** `backAtMs`: when the shard is started again, in milliseconds of `performance.now()`; absent if that is unknown. */
export function shardUnavailable(backAtMs?: number, peer: PeerKind = 'shard'): SvcError {
  const retryAfterMs = backAtMs === undefined ? undefined : backAtMs - performance.now();
  return new SvcError(
    'SVC_SHARD_UNAVAILABLE',
    `${UNAVAILABLE[peer]}, and the call was not sent to it. Try again.`,
    { retryAfterMs },
  );
}

export function callUncertain(peer: PeerKind = 'shard'): SvcError {
  return new SvcError(
    'SVC_CALL_UNCERTAIN',
    `${ENDED[peer]} while it worked on the call or request, so whether that was ` +
      'done is unknown. Look at the entity before it is made again, or give such requests an idempotency key.',
  );
}
