// ShardRouting connects the HTTP server of a shard with its engine, in a service that has several shards: it sends a
// request to the shard that probably owns the entity that the handler calls first, and a call to the shard that owns
// the called entity. A service with one shard has no routing.
import type { RandomSource, WallClock } from '../engine/needs/clock.ts';
import type { EntityEngine } from '../engine/entity-engine.ts';
import type { Guest } from '@svc/model/guest';
import type { Ownership } from '../engine/needs/ownership.ts';
import type { FaultReport } from '@svc/model/fault-report';
import type { ByteBudget } from '@svc/model/byte-budget';
import type { CurrentConfiguration } from '@svc/model/configuration';
import type { HandlerTable } from '@svc/model/handler-table';
import type { CalledServices } from '@svc/model/service-call';
import type { EventLoopBudget } from '../http/requests/event-loop-budget.ts';
import type { QueriedViews } from '../http/requests/request-finds.ts';
import { requestHandler } from '../http/requests/request-handler.ts';
import { RequestRouter } from './request-router.ts';
import { type RouterCluster, ShardRouter } from './shard-router.ts';

interface Parts {
  /** Index of this shard. */
  readonly index: number;
  readonly ownership: Ownership;
  readonly guest: Pick<Guest, 'endpoints'>;
  readonly engine: Pick<
    EntityEngine,
    'call' | 'speculate' | 'readEvents' | 'changeTimers' | 'drain'
  >;
  readonly clock: WallClock;
  readonly random: RandomSource;
  readonly eventLoop: EventLoopBudget;
  /** Absent if the service has no views. */
  readonly views?: QueriedViews | undefined;
  /** Absent if the service cannot call others. */
  readonly services?: CalledServices | undefined;
  /** Absent if the module has no configuration. */
  readonly configuration?: CurrentConfiguration | undefined;
  readonly faults: Pick<FaultReport, 'passedOn' | 'isKnown'>;
  /** Indices of the handlers of the module, which all shards share. */
  readonly handlerTable: HandlerTable;
  /** Budget for the bytes that the service holds for callers until they have received their responses. */
  readonly unsent: ByteBudget;
  /** Absent: the service has one node. */
  readonly cluster?: RouterCluster | undefined;
}

export interface ShardRouting {
  readonly router: ShardRouter;
  readonly handle: ReturnType<typeof requestHandler>;
}

export function shardRouting({
  guest,
  clock,
  random,
  views,
  services,
  configuration,
  ...parts
}: Parts): ShardRouting {
  const { index, ownership, eventLoop } = parts;
  const router = new ShardRouter({
    ...parts,
    serveRequest: (request, metadata, served) => handleHere(request, metadata, served),
  });
  const requests = new RequestRouter({
    index,
    ownership,
    router,
    handleHere: (request, metadata, waiter) => handleHere(request, metadata, waiter),
  });
  const handleHere = requestHandler({
    guest,
    engine: router,
    clock,
    random,
    views,
    services,
    configuration,
    eventLoop,
    firstCallIsRemote: (request, target, waiter) =>
      requests.firstCallIsRemote(request, target, waiter),
  });
  return {
    router,
    handle: (request, metadata, waiter) => requests.handle(request, metadata, waiter),
  };
}
