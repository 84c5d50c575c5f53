// ClusterMembers: the nodes of a service's cluster and their status. Currently an instance is a cluster of one,
// which it forms at its start and leaves at its stop; a cluster of several nodes will have the same shape.

/** Port in the names of nodes, on which instances of a service will communicate. Nothing listens on it yet. */
const REMOTING_PORT = 17_355;

export type MemberStatus = 'Up' | 'Leaving';

export interface ClusterMember {
  /** `svc://shopping-cart@shopping-cart-0:17355` */
  readonly node: string;
  /** Drawn anew at each start. */
  readonly nodeUid: string;
  readonly status: MemberStatus;
  readonly roles: readonly string[];
}

/** The body of `GET /cluster/members`. */
export interface ClusterMembers {
  /** The node that answers. */
  readonly selfNode: string;
  readonly leader: string;
  readonly oldest: string;
  readonly members: readonly ClusterMember[];
  /** Names of those members that others cannot reach. */
  readonly unreachable: readonly string[];
}

export class SingleNode {
  readonly #node: string;
  readonly #uid: string;
  #status: MemberStatus = 'Up';

  /** `uid`: drawn at each start. */
  constructor(service: string, hostname: string, uid: string) {
    this.#node = `svc://${service}@${hostname}:${REMOTING_PORT}`;
    this.#uid = uid;
  }

  get status(): MemberStatus {
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
