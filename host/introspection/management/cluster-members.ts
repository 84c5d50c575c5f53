// ClusterMembers: the nodes of a service's cluster and their status. An instance is a cluster of one, which it founds at
// its start and leaves at its stop; several will have the same shape.

/** Where the instances of a service will talk to one another; nothing listens there before they do. */
const REMOTING_PORT = 17_355;

export type MemberStatus = 'Up' | 'Leaving';

export interface ClusterMember {
  /** `svc://shopping-cart@shopping-cart-0:17355` */
  readonly node: string;
  /** Another one after each start. */
  readonly nodeUid: string;
  readonly status: MemberStatus;
  readonly roles: readonly string[];
}

/** The body of `GET /cluster/members`. */
export interface ClusterMembers {
  /** Who answers. */
  readonly selfNode: string;
  readonly leader: string;
  readonly oldest: string;
  readonly members: readonly ClusterMember[];
  /** Of these, which others cannot reach. */
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
