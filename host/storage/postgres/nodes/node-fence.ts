// NodeFence keeps this node from writing what belongs to no slice after another node has taken over: the transaction locks the row of
// this node, which a takeover removes. It also keeps this node from writing about slices that it does not own.
import type { DatabaseSession } from '../database-session.ts';
import { SvcError } from '@svc/kit/svc-error';

/**
 * Locks the row of this node in an open transaction, so that a takeover waits for it. `slices`: those that the node has to own. Rejects
 * with SVC_JOURNAL_UNAVAILABLE if another node has taken over, or owns one of the slices, and with DatabaseFailure.
 */
export type NodeFence = (
  session: Pick<DatabaseSession, 'query'>,
  slices?: readonly number[],
) => Promise<void>;

/** A renewal of the lease does not wait for this lock, because it leaves the key of the row as it is. */
const LOCK_NODE = {
  name: 'lock-node',
  text: 'SELECT 1 FROM svc.node WHERE number = $1 FOR KEY SHARE',
};

/**
 * Locks the slices that the node owns. Whoever changes the owner of a slice locks its row for update, and so waits or leaves it for
 * later; appends do not wait.
 */
const LOCK_SLICES = {
  name: 'lock-own-slices',
  text: 'SELECT slice FROM svc.slice WHERE slice = ANY($1::int2[]) AND owner = $2 ORDER BY slice FOR KEY SHARE',
};

/** `node` returns the number of this node. `shown`: name of the database in messages. */
export function nodeFence(node: () => number, shown: string): NodeFence {
  return async (session, slices = []) => {
    const self = node();
    if ((await session.query(LOCK_NODE, [self])).length === 0) throw takenOver(shown);
    if (slices.length === 0) return;
    const own = await session.query(LOCK_SLICES, [slices, self]);
    if (own.length < new Set(slices).size) throw takenOver(shown);
  };
}

function takenOver(shown: string): SvcError {
  return new SvcError(
    'SVC_JOURNAL_UNAVAILABLE',
    `Another instance has taken over from this one, in the journal in ${shown}. Nothing was stored. If the lease of this instance had ended, ` +
      'it joins again by itself, unless the other one shares the journal with nobody.',
  );
}
