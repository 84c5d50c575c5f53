// ShardRouter is the engine that handlers call in a service of several shards or nodes. Calls of entities that this shard owns
// go straight to its own engine, and all others to the shard or node that owns the entity. Each shard reads events from the
// journal and changes timers by itself, because all shards share one journal. A service with one shard and one node has no router.
//
// Invariant: a call of another node is executed only by the node that owns the entity, so no call goes through more than two nodes.
import type { EntityEngine } from '../engine/entity-engine.ts';
import { entityMoved } from '../engine/entity/entity-moved.ts';
import type { Ownership } from '../engine/needs/ownership.ts';
import type { FaultReport } from '@svc/model/fault-report';
import type { ForwardedCall } from './frame.ts';
import type { EventLoopBudget } from '../http/requests/event-loop-budget.ts';
import type { Awaitable, Refusal, Reply } from '@svc/model/call';
import type { HandlerTable } from '@svc/model/handler-table';
import { nodeOf } from './cluster-ownership.ts';
import type { MovingCalls } from './moving-calls.ts';
import { shardUnavailable } from './peer-failures.ts';
import { PeerProtocol, type PeerProtocolOptions } from './peer-protocol.ts';
import { RingTransport } from './ring-transport.ts';
import type { CallableEngine, RoutedCall } from '../http/requests/callable-engine.ts';
import type { NodeCall } from './recorder/node-calls.ts';
import type { Peer } from './shard-messages.ts';

type Outcome = Reply | Refusal;

/** The other nodes of the cluster of a service. */
export interface RouterCluster {
  /** Returns the connection to the node with this number; undefined: there is none now. */
  readonly peer: (node: number) => Pick<PeerProtocol, 'call' | 'request'> | undefined;
  /** Routes calls again whose entity moves. */
  readonly moving: MovingCalls;
  /** Changes whenever an owner has changed. */
  readonly version: () => number;
  /** Counts a call or a request for the metrics. */
  readonly count: (call: NodeCall) => void;
  /**
   * Whether requests are handled by the node that owns the entity which they call first. Where views are, they are not: the position
   * that a response names has to be known where the request came in.
   */
  readonly sendsRequests: boolean;
}

interface Parts {
  /** Index of this shard. */
  readonly index: number;
  readonly ownership: Ownership;
  readonly engine: Pick<EntityEngine, 'call' | 'speculate' | 'readEvents' | 'changeTimers'>;
  readonly eventLoop: EventLoopBudget;
  readonly faults: Pick<FaultReport, 'passedOn' | 'isKnown'>;
  /** Indices of the handlers of the module, which all shards share. */
  readonly handlerTable: HandlerTable;
  readonly unsent: PeerProtocolOptions['unsent'];
  /** Serves a request that another shard or node has sent here. */
  readonly serveRequest: PeerProtocolOptions['serveRequest'];
  /** Absent: the service has one node. */
  readonly cluster?: RouterCluster | undefined;
}

export class ShardRouter implements CallableEngine {
  readonly #parts: Parts;
  /** Indexed by shard; undefined while that shard is not running. */
  readonly #peers: (PeerProtocol | undefined)[] = [];
  /** Indexed by shard: when a shard that has ended is started again, in milliseconds of `performance.now()`. */
  readonly #backAtMs: number[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Connects this shard to the one that has the other end of the link. */
  connect({ index, ...link }: Peer): void {
    const peer = new PeerProtocol(new RingTransport(link, this.#parts.handlerTable), {
      ...this.#callbacks,
      serve: (call) => this.#serve(call),
      ended: () => {
        if (this.#peers[index] === peer) this.#peers[index] = undefined;
      },
    });
    this.#peers[index] = peer;
  }

  /** Options of the protocol with another node. */
  get nodeOptions(): Omit<PeerProtocolOptions, 'ended'> {
    const { serveRequest, ...callbacks } = this.#callbacks;
    return {
      ...callbacks,
      serve: (call) => this.#serveNode(call),
      serveRequest: (...request) => {
        this.#parts.cluster?.count('served');
        return serveRequest(...request);
      },
    };
  }

  get #callbacks(): Omit<PeerProtocolOptions, 'serve' | 'ended'> {
    const { faults, unsent, serveRequest } = this.#parts;
    return {
      serveRequest,
      failed: (failure) => faults.passedOn(failure),
      learned: (failure, isLogged) => faults.isKnown(failure, isLogged),
      unsent,
    };
  }

  /** Notes that the shard has ended and is started again after `pauseMs`. */
  away(index: number, pauseMs: number): void {
    this.#backAtMs[index] = performance.now() + pauseMs;
  }

  /** Sends a request to the shard or node `owner`. Returns undefined when it cannot be sent; then nothing was done. */
  request(
    owner: number,
    ...request: Parameters<PeerProtocol['request']>
  ): ReturnType<PeerProtocol['request']> {
    const { cluster } = this.#parts;
    const isOfNode = nodeOf(owner) !== undefined;
    if (isOfNode && cluster?.sendsRequests !== true) return undefined;
    const answer = this.#peer(owner)?.request(...request);
    if (isOfNode && answer !== undefined) cluster?.count('sent');
    return answer;
  }

  call(
    ...[target, name, input, metadata, key]: Parameters<EntityEngine['call']>
  ): Awaitable<Outcome> {
    const call: ForwardedCall = [target, name, input, metadata, key];
    const { cluster } = this.#parts;
    if (cluster === undefined) return this.#route(call);
    return cluster.moving.follow(() => this.#route(call));
  }

  speculate(
    ...[target, name, input, metadata, key]: Parameters<EntityEngine['speculate']>
  ): Outcome | RoutedCall {
    const { engine, index, ownership, cluster } = this.#parts;
    const call: ForwardedCall = [target, name, input, metadata, key];
    const owner = ownership.ownerOf(target.component, target.id);
    if (owner !== index) {
      const answer = cluster === undefined ? this.#forward(owner, call) : this.call(...call);
      return { speculative: undefined, answer: Promise.resolve(answer), isRemote: true };
    }
    if (cluster === undefined) return engine.speculate(...call);
    return this.#speculateFollowed(call, cluster);
  }

  /** Speculates a call of an entity that may move before the call is executed. */
  #speculateFollowed(call: ForwardedCall, cluster: RouterCluster): Outcome | RoutedCall {
    const version = cluster.version();
    const again = () => this.#route(call);
    let speculated: ReturnType<EntityEngine['speculate']>;
    try {
      speculated = this.#parts.engine.speculate(...call);
    } catch (refusal) {
      const answer = cluster.moving.followed(Promise.reject(refusal), again, version);
      return { speculative: undefined, answer, isRemote: true };
    }
    if ('kind' in speculated) return speculated;
    const { speculative, answer } = speculated;
    return { speculative, answer: cluster.moving.followed(answer, again, version) };
  }

  readEvents(...range: Parameters<EntityEngine['readEvents']>) {
    return this.#parts.engine.readEvents(...range);
  }

  changeTimers(...change: Parameters<EntityEngine['changeTimers']>): Promise<void> {
    const { engine, cluster } = this.#parts;
    const changed = () => engine.changeTimers(...change);
    // A node that owns nothing at the moment cannot store anything.
    return cluster === undefined ? changed() : Promise.resolve(cluster.moving.follow(changed));
  }

  /** Calls the entity where it is now. */
  #route(call: ForwardedCall): Awaitable<Outcome> {
    const { engine, index, ownership } = this.#parts;
    const [{ component, id }] = call;
    const owner = ownership.ownerOf(component, id);
    return owner === index ? engine.call(...call) : this.#forward(owner, call);
  }

  #forward(owner: number, call: ForwardedCall): Promise<Outcome> {
    const peer = this.#peer(owner);
    const counting = nodeOf(owner) === undefined ? undefined : this.#parts.cluster;
    if (peer === undefined) {
      counting?.count('unreachable');
      throw shardUnavailable(this.#backAtMs[owner]);
    }
    const answer = peer.call(call);
    counting?.count('sent');
    return answer;
  }

  #peer(owner: number): Pick<PeerProtocol, 'call' | 'request'> | undefined {
    const node = nodeOf(owner);
    return node === undefined ? this.#peers[owner] : this.#parts.cluster?.peer(node);
  }

  /** Serves calls of other shards, which share the event loop with the requests of this one. */
  #serve(call: ForwardedCall): Awaitable<Outcome> {
    const { engine, eventLoop } = this.#parts;
    if (!eventLoop.isUsedUp()) return engine.call(...call);
    return eventLoop.yield().then(() => engine.call(...call));
  }

  /** Serves calls of other nodes, of entities that this one owns. Throws SVC_ENTITY_MOVED for others. */
  #serveNode(call: ForwardedCall): Awaitable<Outcome> {
    const { index, ownership, cluster } = this.#parts;
    const [target] = call;
    const owner = ownership.ownerOf(target.component, target.id);
    if (nodeOf(owner) !== undefined) {
      cluster?.count('refused');
      throw entityMoved(target);
    }
    cluster?.count('served');
    return owner === index ? this.#serve(call) : this.#forward(owner, call);
  }
}
