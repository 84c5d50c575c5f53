// NodeCalls: the names of the counts of calls and requests between this node and the others of its service's cluster.

export const NODE_CALLS = [
  /** Sent to the node that owns the entity. */
  'sent',
  /** Not sent, because there was no connection to that node. */
  'unreachable',
  /** Received from another node, and executed. */
  'served',
  /** Received from another node, and not executed, because this one does not own the entity. */
  'refused',
] as const;
export type NodeCall = (typeof NODE_CALLS)[number];
