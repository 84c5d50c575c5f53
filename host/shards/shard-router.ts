// ShardRouter: the engine of a shard that is one of several, as handlers call it. Entities of this shard are its
// own engine's, without any detour; calls of all others go to the shard that they belong to. Events are read
// from the journal, which is one, by each shard itself. A service of one shard has none of it.
import type { EntityEngine } from '../engine/entity-engine.ts';
import type { FaultReport } from '../model/fault-report.ts';
import type { ForwardedCall } from './frame.ts';
import type { LoopTurn } from '../http/requests/loop-turn.ts';
import type { Awaitable, Refusal, Reply } from '../model/call.ts';
import type { HandlerPlaces } from '../model/handler-places.ts';
import { shardUnavailable } from './peer-failures.ts';
import { PeerProtocol, type PeerProtocolOptions } from './peer-protocol.ts';
import { RingTransport } from './ring-transport.ts';
import type { CallableEngine, RoutedCall } from '../http/requests/request-calls.ts';
import type { Peer } from './shard-messages.ts';
import { shardOf } from './shard-of.ts';

type Outcome = Reply | Refusal;

interface Parts {
  /** Of the shards, which one this is. */
  readonly index: number;
  readonly count: number;
  readonly engine: Pick<EntityEngine, 'call' | 'callAhead' | 'readEvents'>;
  readonly turn: LoopTurn;
  readonly faults: Pick<FaultReport, 'passedOn' | 'isKnown'>;
  /** Of the module that all shards run. */
  readonly places: HandlerPlaces;
  readonly unsent: PeerProtocolOptions['unsent'];
  /** Does a request that another shard has sent here. */
  readonly serveRequest: PeerProtocolOptions['serveRequest'];
}

export class ShardRouter implements CallableEngine {
  readonly #parts: Parts;
  /** By the index of their shard; undefined: it is not there at present. */
  readonly #peers: (PeerProtocol | undefined)[] = [];
  /** By the index of their shard: when those that are not there are started again. */
  readonly #backAtMs: number[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** To that shard, which has the other end. */
  connect({ index, ...link }: Peer): void {
    const { faults, places, unsent, serveRequest } = this.#parts;
    const peer = new PeerProtocol(new RingTransport(link, places), {
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

  /** The shard of that index has ended, and is started again after so long. */
  away(index: number, pauseMs: number): void {
    this.#backAtMs[index] = performance.now() + pauseMs;
  }

  /** Of the shard of that index. Undefined: it is not sent, and nothing was done. */
  request(
    owner: number,
    ...request: Parameters<PeerProtocol['request']>
  ): ReturnType<PeerProtocol['request']> {
    return this.#peers[owner]?.request(...request);
  }

  call(...call: Parameters<EntityEngine['call']>): Awaitable<Outcome> {
    const { engine, index, count } = this.#parts;
    const [target, name, input, metadata, key] = call;
    const owner = shardOf(target.component, target.id, count);
    if (owner === index) return engine.call(target, name, input, metadata, key);
    return this.#forward(owner, [target, name, input, metadata, key]);
  }

  callAhead(...call: Parameters<EntityEngine['callAhead']>): Outcome | RoutedCall {
    const { engine, index, count } = this.#parts;
    const [target, name, input, metadata, key] = call;
    const owner = shardOf(target.component, target.id, count);
    if (owner === index) return engine.callAhead(target, name, input, metadata, key);
    const answer = this.#forward(owner, [target, name, input, metadata, key]);
    return { foreseen: undefined, answer, isElsewhere: true };
  }

  readEvents(...range: Parameters<EntityEngine['readEvents']>) {
    return this.#parts.engine.readEvents(...range);
  }

  #forward(owner: number, call: ForwardedCall): Promise<Outcome> {
    const peer = this.#peers[owner];
    if (peer === undefined) throw shardUnavailable(this.#backAtMs[owner]);
    return peer.call(call);
  }

  /** Calls of other shards take turns with the requests of this one. */
  #serve([target, name, input, metadata, key]: ForwardedCall): Awaitable<Outcome> {
    const { engine, turn } = this.#parts;
    if (!turn.isUsedUp()) return engine.call(target, name, input, metadata, key);
    return turn.next().then(() => engine.call(target, name, input, metadata, key));
  }
}
