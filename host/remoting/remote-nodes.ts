// RemoteNodes keeps a connection of this shard to each other node of the cluster.
import { RemoteNode, type RemoteMember, type RemoteNodeOptions } from './remote-node.ts';
import { RemotingBytes } from './remoting-bytes.ts';
import type { PeerProtocol } from '../shards/peer-protocol.ts';

export type RemoteNodesOptions = Omit<RemoteNodeOptions, 'member' | 'bytes'>;

export class RemoteNodes {
  readonly #options: RemoteNodesOptions;
  readonly #bytes = new RemotingBytes();
  /** Indexed by the numbers of the nodes. */
  readonly #nodes = new Map<number, RemoteNode>();
  /** Nodes that are no members any more, and have calls in flight. */
  readonly #retired = new Set<RemoteNode>();
  #isClosed = false;

  constructor(options: RemoteNodesOptions) {
    this.#options = options;
  }

  /**
   * Sets the members of the cluster that can be called; this node is left out. Calls that wait for an answer of a node
   * that is no member any more may still get it.
   */
  setNodes(members: readonly RemoteMember[]): void {
    if (this.#isClosed) return;
    const { uid } = this.#options.self();
    const others = new Map(
      members.filter((member) => member.uid !== uid).map((member) => [member.number, member]),
    );
    for (const [number, node] of this.#nodes) {
      const member = others.get(number);
      if (member !== undefined && isSame(member, node.member)) continue;
      this.#nodes.delete(number);
      this.#retired.add(node);
      void node.retire().then(() => this.#retired.delete(node));
    }
    for (const [number, member] of others)
      if (!this.#nodes.has(number))
        this.#nodes.set(number, new RemoteNode({ ...this.#options, member, bytes: this.#bytes }));
  }

  /** Returns the link on which entities of the node are called; undefined while there is no connection. */
  peer(number: number): PeerProtocol | undefined {
    return this.#nodes.get(number)?.peer;
  }

  /** Numbers of the members that cannot be reached. */
  get unreachable(): readonly number[] {
    return [...this.#nodes].filter(([, node]) => node.isUnreachable).map(([number]) => number);
  }

  /** Reports to all connected nodes that owners of slices have changed. */
  sendLook(): void {
    for (const { peer } of this.#nodes.values()) peer?.sendLook();
  }

  /** Ends all connections. */
  close(): void {
    this.#isClosed = true;
    for (const node of [...this.#nodes.values(), ...this.#retired]) node.close();
    this.#nodes.clear();
  }
}

function isSame(left: RemoteMember, right: RemoteMember): boolean {
  return left.uid === right.uid && left.host === right.host && left.port === right.port;
}
