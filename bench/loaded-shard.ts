// A shard without sockets: it handles requests of its own making, a number of them at a time, each for any of the
// entities of the service, so that nothing but shards and journal takes time of the machine.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { createEngine } from '../host/engine/entity-engine.ts';
import { FaultReport } from '../host/fault-report.ts';
import type { AdmittedModule } from '../host/hosting/wasm/admission.ts';
import { startWasmGuest } from '../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../host/hosting/wasm/wasm-limits.ts';
import { LimitCounters } from '../host/limit-counters.ts';
import { LoopTurn } from '../host/loop-turn.ts';
import type { EndpointRequest } from '../host/model/endpoint.ts';
import { requestHandler } from '../host/request-handler.ts';
import type { Peer } from '../host/shard-messages.ts';
import { ShardRouter } from '../host/shard-router.ts';
import { attachJournal } from '../host/storage/attached-journal.ts';
import { systemChance, systemClock, systemDigest } from '../host/system.ts';

export interface LoadedShard {
  readonly module: AdmittedModule;
  readonly index: number;
  readonly count: number;
  readonly dataFolder: string;
  readonly entities: number;
  readonly journal: MessagePort;
  readonly peers: readonly Peer[];
}

/** Requests of the counter's endpoint: its first route is the query, its second the command. */
export interface ShardLoad {
  readonly route: 0 | 1;
  readonly inFlight: number;
  readonly seconds: number;
}

const { module, index, count, dataFolder, entities, journal, peers } = workerData as LoadedShard;
const guest = startWasmGuest(module, WASM_LIMITS_DEFAULT, () => {});
const chance = systemChance();
const turn = new LoopTurn();
const engine = createEngine({
  guest,
  journal: attachJournal(journal, dataFolder),
  clock: systemClock,
  chance,
  digest: systemDigest,
  turn,
  faultLog: (_entity, _handler, fault) => {
    throw fault;
  },
});
const router = new ShardRouter({
  index,
  count,
  engine,
  turn,
  faults: new FaultReport(new LimitCounters()),
});
for (const peer of peers) router.connect(peer.index, peer.port);
const handle = requestHandler({
  guest,
  engine: count === 1 ? engine : router,
  clock: systemClock,
  chance,
  turn,
});

function request(route: 0 | 1): EndpointRequest {
  return {
    route,
    parameters: [`c${Math.floor(Math.random() * entities)}`],
    query: '',
    headers: [],
    caller: 'internet',
    body: route === 0 ? { kind: 'none' } : { kind: 'json', text: '{"amount":1}' },
  };
}

async function load({ route, inFlight, seconds }: ShardLoad): Promise<number> {
  const untilMs = performance.now() + seconds * 1000;
  let done = 0;
  const caller = async () => {
    while (performance.now() < untilMs) {
      const answer = await handle(request(route), []);
      if (answer.kind !== 'response' || answer.status !== 200) throw new Error('not answered');
      done++;
      // What needs no wait would keep every message out.
      if (done % inFlight === 0)
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  return done;
}

async function report(wanted: ShardLoad): Promise<void> {
  const done = await load(wanted);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
  parentPort!.postMessage(done);
}

parentPort!.on('message', (wanted: ShardLoad) => {
  void report(wanted);
});
