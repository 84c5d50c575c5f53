// ClusterMembers: the nodes of a service's cluster and their status, as `GET /cluster/members` shows them. An instance whose journal
// is in a folder is a cluster of one, which it forms at its start and leaves at its stop.
import type { ClusterState, NodeStatus } from '../../storage/cluster-nodes.ts';

/** Port in the name of a node that takes no calls of others (contract, document 2, ports). */
const REMOTING_PORT = 17_355;

export interface ClusterMember {
  /** `svc://shopping-cart@shopping-cart-0:17355` */
  readonly node: string;
  /** Drawn at each start. */
  readonly nodeUid: string;
  readonly status: NodeStatus;
  readonly roles: readonly string[];
}

/** The body of `GET /cluster/members`. */
export interface ClusterMembers {
  /** The node that answers. */
  readonly selfNode: string;
  readonly leader: string;
  readonly oldest: string;
  readonly members: readonly ClusterMember[];
  /** Names of those members that the answering node cannot reach. */
  readonly unreachable: readonly string[];
}

export class SingleNode {
  readonly #node: string;
  readonly #uid: string;
  #status: 'Up' | 'Leaving' = 'Up';

  /** `uid`: drawn at each start. */
  constructor(service: string, hostname: string, uid: string) {
    this.#node = nodeName(service, hostname);
    this.#uid = uid;
  }

  get status(): NodeStatus {
    return this.#status;
  }

  leave(): void {
    this.#status = 'Leaving';
  }

  members(): ClusterMembers {
    const self: ClusterMember = {
      node: this.#node,
      nodeUid: this.#uid,
      status: this.#status,
      roles: [],
    };
    return {
      selfNode: this.#node,
      leader: this.#node,
      oldest: this.#node,
      members: [self],
      unreachable: [],
    };
  }
}

/** Returns the members of a cluster of several nodes. `own`: this node, which is named while it is no member. */
export function clusterMembers(
  service: string,
  { self, nodes, unreachable }: ClusterState,
  own: ClusterMembers,
): ClusterMembers {
  const named = nodes.map((node) => ({
    ...node,
    name: nodeName(service, node.machine, node.address?.port),
  }));
  const present = named.filter(({ status }) => status !== 'Down');
  const [oldest] = present;
  if (oldest === undefined) return own;
  // Neither decides anything: the database does. The leader is the first by name, and everybody names the same one.
  const leader = present.map(({ name }) => name).toSorted()[0]!;
  return {
    selfNode: named.find(({ number }) => number === self)?.name ?? own.selfNode,
    leader,
    oldest: oldest.name,
    members: named.map(({ name, uid, status }) => ({
      node: name,
      nodeUid: uid,
      status,
      roles: [],
    })),
    unreachable: named.filter(({ number }) => unreachable.has(number)).map(({ name }) => name),
  };
}

/** Returns why an instance is no member that entities are handed over to; undefined: it is. */
export function membershipProblem({ self, nodes }: ClusterState): string | undefined {
  const node = nodes.find(({ number }) => number === self);
  switch (node?.status) {
    case 'Up':
      return undefined;
    case 'Leaving':
      return 'The instance leaves its cluster.';
    case 'Joining':
      return 'The instance joins its cluster.';
    case 'Down':
    case undefined:
      return 'The instance is not a member of its cluster: the lease has ended, and it joins again once it reaches the database.';
  }
}

function nodeName(service: string, machine: string, port = REMOTING_PORT): string {
  return `svc://${service}@${machine}:${port}`;
}
