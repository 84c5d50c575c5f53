// ShardRouting: what a shard that is one of several has between its HTTP server and its engine: requests go to the shard of
// the entity that they are about, and calls to the shard of theirs. A service of one shard has none of it.
import type { Clock, RandomSource } from '../engine/needs/clock.ts';
import type { EntityEngine } from '../engine/entity-engine.ts';
import type { Guest } from '../engine/needs/guest.ts';
import type { FaultReport } from '../model/fault-report.ts';
import type { ByteBudget } from '../model/byte-budget.ts';
import type { HandlerPlaces } from '../model/handler-places.ts';
import type { LoopTurn } from '../http/requests/loop-turn.ts';
import { requestHandler } from '../http/requests/request-handler.ts';
import { RequestRouter } from './request-router.ts';
import { ShardRouter } from './shard-router.ts';

interface Parts {
  /** Of the shards, which one this is. */
  readonly index: number;
  readonly count: number;
  readonly guest: Pick<Guest, 'endpoints'>;
  readonly engine: Pick<EntityEngine, 'call' | 'callAhead' | 'readEvents'>;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly turn: LoopTurn;
  readonly faults: Pick<FaultReport, 'passedOn' | 'isKnown'>;
  /** Of the module that all shards run. */
  readonly places: HandlerPlaces;
  /** What the service keeps for callers. */
  readonly unsent: ByteBudget;
}

export interface ShardRouting {
  readonly router: ShardRouter;
  readonly handle: ReturnType<typeof requestHandler>;
}

export function shardRouting({ guest, clock, random, ...parts }: Parts): ShardRouting {
  const { index, count, turn } = parts;
  const router = new ShardRouter({
    ...parts,
    serveRequest: (request, metadata, served) => handleHere(request, metadata, served),
  });
  const requests = new RequestRouter({
    index,
    count,
    router,
    handleHere: (request, metadata, waiter) => handleHere(request, metadata, waiter),
  });
  const handleHere = requestHandler({
    guest,
    engine: router,
    clock,
    random,
    turn,
    asksElsewhere: (request, target, waiter) => requests.asksElsewhere(request, target, waiter),
  });
  return {
    router,
    handle: (request, metadata, waiter) => requests.handle(request, metadata, waiter),
  };
}
