// RemoteNodes keeps a connection of this shard to each other node of the cluster. When this node has new certificates, or a connection with
// TLS has reached its age, it is made again, and the former one serves until then, within bounds (remoting-tls.ts).
import { RemoteNode, type RemoteMember, type RemoteNodeOptions } from './remote-node.ts';
import { RemotingBytes } from './remoting-bytes.ts';
import type { Renewal } from './remoting-tls.ts';
import type { PeerProtocol } from '../shards/peer-protocol.ts';

export type RemoteNodesOptions = Omit<RemoteNodeOptions, 'member' | 'bytes' | 'connected' | 'aged'>;

/** The connections to a member. */
interface Links {
  /** The one that is kept. */
  readonly node: RemoteNode;
  /** The one before it, which serves until the other one is made; undefined: there is none. */
  former: RemoteNode | undefined;
}

export class RemoteNodes {
  readonly #options: RemoteNodesOptions;
  readonly #bytes = new RemotingBytes();
  /** Indexed by the numbers of the nodes. */
  readonly #links = new Map<number, Links>();
  /** Nodes that are called no more, and have calls in flight. */
  readonly #retired = new Set<RemoteNode>();
  readonly #forgetRenewals: (() => void) | undefined;
  #isClosed = false;

  constructor(options: RemoteNodesOptions) {
    this.#options = options;
    this.#forgetRenewals = options.tls?.onRenewal((renewal) => this.#renewAll(renewal));
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
    for (const [number, { node, former }] of this.#links) {
      const member = others.get(number);
      if (member !== undefined && isSame(member, node.member)) continue;
      this.#links.delete(number);
      this.#retire(node);
      this.#retire(former);
    }
    for (const [number, member] of others)
      if (!this.#links.has(number)) this.#link(member, undefined);
  }

  /** Returns the link on which entities of the node are called; undefined while there is no connection. */
  peer(number: number): PeerProtocol | undefined {
    const links = this.#links.get(number);
    return links?.node.peer ?? links?.former?.peer;
  }

  /** Numbers of the members that cannot be reached. */
  get unreachable(): readonly number[] {
    return [...this.#links]
      .filter(([, { node, former }]) => node.isUnreachable && former?.peer === undefined)
      .map(([number]) => number);
  }

  /** Reports to all connected nodes that owners of slices have changed. */
  sendLook(): void {
    for (const number of this.#links.keys()) this.peer(number)?.sendLook();
  }

  /** Ends all connections. */
  close(): void {
    this.#isClosed = true;
    this.#forgetRenewals?.();
    for (const { node, former } of this.#links.values()) {
      node.close();
      former?.close();
    }
    for (const node of this.#retired) node.close();
    this.#links.clear();
  }

  #link(member: RemoteMember, former: RemoteNode | undefined): void {
    const connected = (): void => {
      this.#retire(links.former);
      links.former = undefined;
    };
    const aged = (): void => {
      // A former connection is being made again already.
      if (this.#links.get(member.number) === links) this.#renew(links);
    };
    const node = new RemoteNode({
      ...this.#options,
      member,
      bytes: this.#bytes,
      connected,
      aged,
    });
    const links: Links = { node, former };
    this.#links.set(member.number, links);
  }

  #renewAll({ formerMsMax }: Renewal): void {
    for (const links of this.#links.values()) {
      const { node, former } = links;
      if (formerMsMax !== undefined) (former ?? node).endWithin(formerMsMax);
      this.#renew(links);
    }
  }

  /** Makes the connection again. */
  #renew({ node, former }: Links): void {
    // There is a former one only as long as this one was not made.
    if (former !== undefined) node.close();
    this.#link(node.member, former ?? node);
  }

  #retire(node: RemoteNode | undefined): void {
    if (node === undefined) return;
    this.#retired.add(node);
    void node.retire().then(() => this.#retired.delete(node));
  }
}

function isSame(left: RemoteMember, right: RemoteMember): boolean {
  return left.uid === right.uid && left.host === right.host && left.port === right.port;
}
