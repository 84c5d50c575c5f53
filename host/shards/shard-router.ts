// ShardRouter is the engine that handlers call in a service of several shards. Calls of entities that this shard owns
// go straight to its own engine, and all others to the shard that owns the entity. Each shard reads events from the
// journal and changes timers by itself, because all shards share one journal. A service with one shard has no router.
import type { EntityEngine } from '../engine/entity-engine.ts';
import type { Ownership } from '../engine/needs/ownership.ts';
import type { FaultReport } from '@svc/model/fault-report';
import type { ForwardedCall } from './frame.ts';
import type { EventLoopBudget } from '../http/requests/event-loop-budget.ts';
import type { Awaitable, Refusal, Reply } from '@svc/model/call';
import type { HandlerTable } from '@svc/model/handler-table';
import { shardUnavailable } from './peer-failures.ts';
import { PeerProtocol, type PeerProtocolOptions } from './peer-protocol.ts';
import { RingTransport } from './ring-transport.ts';
import type { CallableEngine, RoutedCall } from '../http/requests/callable-engine.ts';
import type { Peer } from './shard-messages.ts';

type Outcome = Reply | Refusal;

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
  /** Serves a request that another shard has sent here. */
  readonly serveRequest: PeerProtocolOptions['serveRequest'];
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
    const { faults, handlerTable, unsent, serveRequest } = this.#parts;
    const peer = new PeerProtocol(new RingTransport(link, handlerTable), {
      serve: (call) => this.#serve(call),
      serveRequest,
      failed: (failure) => faults.passedOn(failure),
      learned: (failure, isLogged) => faults.isKnown(failure, isLogged),
      unsent,
      ended: () => {
        if (this.#peers[index] === peer) this.#peers[index] = undefined;
      },
    });
    this.#peers[index] = peer;
  }

  /** Notes that the shard has ended and is started again after `pauseMs`. */
  away(index: number, pauseMs: number): void {
    this.#backAtMs[index] = performance.now() + pauseMs;
  }

  /** Sends a request to the shard `owner`. Returns undefined when it cannot be sent; then nothing was done. */
  request(
    owner: number,
    ...request: Parameters<PeerProtocol['request']>
  ): ReturnType<PeerProtocol['request']> {
    return this.#peers[owner]?.request(...request);
  }

  call(...call: Parameters<EntityEngine['call']>): Awaitable<Outcome> {
    const { engine, index, ownership } = this.#parts;
    const [target, name, input, metadata, key] = call;
    const owner = ownership.ownerOf(target.component, target.id);
    if (owner === index) return engine.call(target, name, input, metadata, key);
    return this.#forward(owner, [target, name, input, metadata, key]);
  }

  speculate(...call: Parameters<EntityEngine['speculate']>): Outcome | RoutedCall {
    const { engine, index, ownership } = this.#parts;
    const [target, name, input, metadata, key] = call;
    const owner = ownership.ownerOf(target.component, target.id);
    if (owner === index) return engine.speculate(target, name, input, metadata, key);
    const answer = this.#forward(owner, [target, name, input, metadata, key]);
    return { speculative: undefined, answer, isRemote: true };
  }

  readEvents(...range: Parameters<EntityEngine['readEvents']>) {
    return this.#parts.engine.readEvents(...range);
  }

  changeTimers(...change: Parameters<EntityEngine['changeTimers']>): Promise<void> {
    return this.#parts.engine.changeTimers(...change);
  }

  #forward(owner: number, call: ForwardedCall): Promise<Outcome> {
    const peer = this.#peers[owner];
    if (peer === undefined) throw shardUnavailable(this.#backAtMs[owner]);
    return peer.call(call);
  }

  /** Serves calls of other shards, which share the event loop with the requests of this one. */
  #serve([target, name, input, metadata, key]: ForwardedCall): Awaitable<Outcome> {
    const { engine, eventLoop } = this.#parts;
    if (!eventLoop.isUsedUp()) return engine.call(target, name, input, metadata, key);
    return eventLoop.yield().then(() => engine.call(target, name, input, metadata, key));
  }
}
