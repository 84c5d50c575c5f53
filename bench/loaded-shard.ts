// LoadedShard: a shard that creates its own load: concurrent requests, each for a random entity of the service. The
// shard calls its request handler directly, or sends the requests to its own HTTP server. No load generator is needed,
// so only the shards and the journal use the machine's time. (In measurements (n) and (n2) a load generator sends the
// requests, and the shard only switches its recorder.)
import { parentPort, workerData } from 'node:worker_threads';
import { createEngine } from '../host/engine/entity-engine.ts';
import { FaultReport } from '@svc/model/fault-report';
import type { AdmittedModule } from '../host/hosting/wasm/admission/admission.ts';
import { startWasmGuest } from '../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../host/hosting/wasm/wasm-limits.ts';
import { INTERNET } from '../host/http/access.ts';
import { createHttpServer } from '../host/http/http-server.ts';
import { HTTP_SETTINGS_DEFAULT } from '../host/http/http-settings.ts';
import { RouteTable } from '../host/http/route-table.ts';
import { LimitCounters } from '@svc/model/limit-counters';
import { EventLoopBudget } from '../host/http/requests/event-loop-budget.ts';
import type { EndpointRequest } from '@svc/model/endpoint';
import { OBSERVABILITY_LIMITS_DEFAULT } from '../host/introspection/observability/observability-limits.ts';
import { requestHandler } from '../host/http/requests/request-handler.ts';
import { requestBudgets } from '@svc/model/request-budgets';
import { HashOwnership } from '../host/shards/hash-ownership.ts';
import type { Peer } from '../host/shards/shard-messages.ts';
import { ShardNumbers } from '../host/shards/shard-numbers.ts';
import { shardRouting } from '../host/shards/shard-routing.ts';
import { attachJournal, type JournalConnection } from '../host/storage/journal-connection.ts';
import { systemRandom, systemClock, systemDigest } from '../host/system.ts';
import { requestText, sendPipelined } from './pipelined-client.ts';
import { type Slice, SwitchedRecorder } from './switched-recorder.ts';

/** Start data of the shard's thread: `index` of `count` shards, and the links to the other shards. */
export interface LoadedShard {
  readonly module: AdmittedModule;
  readonly index: number;
  readonly count: number;
  readonly entities: number;
  readonly journal: JournalConnection;
  readonly peers: readonly Peer[];
}

/** Requests of the counter's endpoint: its first route is the query, its second the command. */
export interface ShardLoad {
  readonly route: 0 | 1;
  /** True: over HTTP; false: without sockets. */
  readonly isOverHttp: boolean;
  /** Number of concurrent requests of this shard. */
  readonly inFlight: number;
  readonly seconds: number;
}

/** Asks for turns of `sliceMs` milliseconds with and without recording; undefined ends them: everything is recorded. */
export interface RecordingTurns {
  readonly sliceMs: number | undefined;
}

export type ShardNews =
  /** A load has ended. `requests`: number of its requests that were answered. */
  | { readonly kind: 'done'; readonly requests: number }
  | { readonly kind: 'slice'; readonly slice: Slice }
  /** The turns have begun or ended. `port`: port of the shard's HTTP server. */
  | { readonly kind: 'turns'; readonly port: number };

/** Concurrent requests on one connection. */
const DEPTH = 8;
const ADDED = '{"amount":1}';

const { module, index, count, entities, journal, peers } = workerData as LoadedShard;
const guest = startWasmGuest(module, WASM_LIMITS_DEFAULT, () => {});
const random = systemRandom();
const eventLoop = new EventLoopBudget();
const { ringCapacity } = OBSERVABILITY_LIMITS_DEFAULT;
const numbers = new ShardNumbers(guest.descriptor, ringCapacity);
const recorder = new SwitchedRecorder(numbers, index);
const engine = createEngine({
  guest,
  journal: await attachJournal(journal),
  clock: systemClock,
  random,
  digest: systemDigest,
  eventLoop,
  recorder,
  faultLog: (_entity, _handler, fault) => {
    throw fault;
  },
});
const { unsent } = requestBudgets(HTTP_SETTINGS_DEFAULT);
const parts = { guest, engine, clock: systemClock, random, eventLoop };
const handle = count === 1 ? requestHandler(parts) : routed();
const server = createHttpServer({
  routes: new RouteTable(guest.descriptor),
  settings: HTTP_SETTINGS_DEFAULT,
  random,
  callerOf: () => INTERNET,
  handle,
  observer: {
    recorder,
    counts: {
      answered(route, status, durationMs) {
        numbers.http.answered(route, status, durationMs);
        recorder.answered();
      },
    },
    firstRouteIndex: numbers.handlerTable.firstRoute,
  },
  log: { warn: failed, error: failed },
});
const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
const texts = Array.from({ length: entities }, (_, n) => [
  requestText('GET', `/counters/c${n}`),
  requestText('POST', `/counters/c${n}`, ADDED),
]);

function routed(): ReturnType<typeof requestHandler> {
  const faults = new FaultReport(new LimitCounters());
  const routing = shardRouting({
    ...parts,
    index,
    ownership: new HashOwnership(count),
    faults,
    handlerTable: numbers.handlerTable,
    unsent,
  });
  for (const peer of peers) routing.router.connect(peer);
  return routing.handle;
}

function failed({ err }: { readonly err: unknown }): never {
  throw err;
}

function anyEntity(): number {
  return Math.floor(Math.random() * entities);
}

function request(route: 0 | 1): EndpointRequest {
  return {
    route,
    parameters: [`c${anyEntity()}`],
    query: '',
    headers: [],
    caller: 'internet',
    body: route === 0 ? { kind: 'none' } : { kind: 'json', text: ADDED },
  };
}

async function callsUntil(
  untilMs: number,
  { route, inFlight }: Pick<ShardLoad, 'route' | 'inFlight'>,
): Promise<number> {
  let done = 0;
  const caller = async () => {
    while (performance.now() < untilMs) {
      const answer = await handle(request(route), []);
      if (answer.kind !== 'response' || answer.status !== 200) throw new Error('not answered');
      done++;
      // Requests that never wait would block the event loop, so the loop yields to messages.
      if (done % inFlight === 0)
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  return done;
}

async function load({ route, isOverHttp, inFlight, seconds }: ShardLoad): Promise<number> {
  if (!isOverHttp) return callsUntil(performance.now() + seconds * 1000, { route, inFlight });
  // The time begins with the first request, because connecting may take longer than a short load on a busy machine.
  let untilMs: number | undefined;
  return sendPipelined({
    port,
    connections: inFlight / DEPTH,
    depth: DEPTH,
    next: () => {
      const nowMs = performance.now();
      untilMs ??= nowMs + seconds * 1000;
      return nowMs < untilMs ? texts[anyEntity()]![route] : undefined;
    },
  });
}

function send(news: ShardNews): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
  parentPort!.postMessage(news);
}

function takeTurns({ sliceMs }: RecordingTurns): void {
  if (sliceMs === undefined) recorder.stay();
  else recorder.takeTurns(sliceMs, (slice) => send({ kind: 'slice', slice }));
  send({ kind: 'turns', port });
}

parentPort!.on('message', (wanted: ShardLoad | RecordingTurns) => {
  if ('route' in wanted) void load(wanted).then((requests) => send({ kind: 'done', requests }));
  else takeTurns(wanted);
});
