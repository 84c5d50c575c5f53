// NodeFence keeps this node from writing what belongs to no slice after another node has taken over: the transaction locks the row of
// this node, which a takeover removes.
import type { DatabaseSession } from '../database-session.ts';
import { takenOver } from './node-membership.ts';

/**
 * Locks the row of this node in an open transaction, so that a takeover waits for it. Rejects with SVC_JOURNAL_UNAVAILABLE if another
 * node has taken over, and with DatabaseFailure.
 */
export type NodeFence = (session: Pick<DatabaseSession, 'query'>) => Promise<void>;

/** A renewal of the lease does not wait for this lock, because it leaves the key of the row as it is. */
const LOCK_NODE = {
  name: 'lock-node',
  text: 'SELECT 1 FROM svc.node WHERE number = $1 FOR KEY SHARE',
};

/** `node` returns the number of this node. `shown`: name of the database in messages. */
export function nodeFence(node: () => number, shown: string): NodeFence {
  return async (session) => {
    if ((await session.query(LOCK_NODE, [node()])).length === 0) throw takenOver(shown);
  };
}
