// Shard: the thread that runs a module. It wires the parts together: the module's guest, the engine
// over it, and the HTTP server in front. It is started by the supervisor with ShardSettings, and talks
// to it in the words of shard-messages.ts.
import { parentPort, workerData } from 'node:worker_threads';
import { FaultReport } from '../log/fault-report.ts';
import { developerLimits } from '../engine/engine-limits.ts';
import { createEngine } from '../engine/entity-engine.ts';
import { startWasmGuest } from '../hosting/wasm/wasm-guest.ts';
import { callerOfAddress, INTERNET } from '../http/access.ts';
import { corsRemark } from '../http/cors.ts';
import { RouteTable } from '../http/route-table.ts';
import { LimitCounters } from '../log/limit-counters.ts';
import { LogRate } from '../log/log-rate.ts';
import { LoopTurn } from '../http/requests/loop-turn.ts';
import { NumberSamples } from '../shards/number-samples.ts';
import { requestBudgets } from '../model/request-budgets.ts';
import { SvcError } from '../model/svc-error.ts';
import { SpanRing } from '../introspection/observability/span-ring.ts';
import { requestHandler } from '../http/requests/request-handler.ts';
import type { CallableEngine } from '../http/requests/request-calls.ts';
import { ShardAnswers } from '../shards/shard-answers.ts';
import type { LogEntry } from '../log/log-entry.ts';
import type { FromShard, Peer, ShardSettings, ToShard } from '../shards/shard-messages.ts';
import { ShardNumbers } from '../shards/shard-numbers.ts';
import { attachJournal } from '../storage/journal-connection.ts';
import { systemChance, systemClock, systemDigest } from '../system.ts';

/** How often it is looked for entities that nobody uses. */
const PASSIVATE_MS = 1_000;
/** How often the main thread learns what is in memory. */
const SAMPLE_MS = 1_000;

const settings = workerData as ShardSettings;
const supervisor = parentPort!;
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
const tell = (message: FromShard) => supervisor.postMessage(message);
const counters = new LimitCounters(settings.counters);
const faults = new FaultReport(counters);
const logRate = new LogRate(
  settings.rooms.log,
  performance.now(),
  (entry) => tell({ kind: 'log', entry }),
  () => counters.count('log-lines-not-written'),
);
const log = (
  level: LogEntry['level'],
  message: string,
  fields: LogEntry['fields'] = {},
  failure?: unknown,
) => logRate.write({ level, message, fields, frames: faults.frames(failure) }, performance.now());

/** Other shards that were told of before there was an engine for them. */
const earlyPeers: Peer[] = [];
let meet = (peer: Peer): void => void earlyPeers.push(peer);
let away = (_index: number, _pauseMs: number): void => {};
/** There is none before it serves, and nobody asks before. */
let answers: ShardAnswers | undefined;

supervisor.on('message', (message: ToShard) => {
  if (message.kind === 'peer') meet(message.peer);
  if (message.kind === 'peer-away') away(message.index, message.pauseMs);
  if (message.kind === 'ask') {
    const { number, question } = message;
    void answers?.answer(question).then((answer) => tell({ kind: 'answer', number, answer }));
  }
  if (message.kind !== 'are-you-alive') return;
  logRate.written(message.loggedBytes);
  logRate.report(performance.now());
  tell({ kind: 'alive' });
});

async function run(): Promise<void> {
  const { module } = await nextMessage('run');
  const guest = startWasmGuest(module, settings.rooms.wasm, (line) =>
    log(line.level, line.message, { from: line.source }),
  );
  const routes = new RouteTable(guest.descriptor);
  const toldToServe = nextMessage('serve');
  tell({ kind: 'admitted', descriptor: guest.descriptor });
  // The largest part of the host's code: it is loaded while the journal is opened.
  const httpServer = import('../http/http-server.ts');
  const { journal: connection, peers, numbers: shared } = await toldToServe;
  const journal = attachJournal(connection);
  const { index, count, rooms } = settings;
  const capacity = rooms.observability.ringCapacity;
  const numbers = new ShardNumbers(guest.descriptor, capacity, shared);
  const remark = index === 0 ? corsRemark(rooms['http.cors'], routes) : undefined;
  if (remark !== undefined) log('warn', remark);
  const chance = systemChance();
  const turn = new LoopTurn();
  const ring = new SpanRing(numbers, index, turn);
  const engine = createEngine({
    guest,
    journal,
    clock: systemClock,
    chance,
    digest: systemDigest,
    turn,
    recorder: ring,
    limits: settings.deployed ? settings.rooms.engine : developerLimits(settings.rooms.engine),
    faultLog: ({ component, id }, handler, fault) =>
      log(
        'warn',
        'an entity failed',
        {
          component,
          entity: id,
          ...(handler === undefined ? {} : { handler }),
          ...faults.fields(fault),
        },
        fault,
      ),
  });
  // An engine has no timers of its own.
  setInterval(() => void engine.passivate(), PASSIVATE_MS).unref();
  let callable: CallableEngine = engine;
  let handle: ReturnType<typeof requestHandler>;
  const budgets = requestBudgets(rooms.http, settings.budgets, index);
  const { unsent } = budgets;
  const parts = { guest, engine, clock: systemClock, chance, turn };
  if (count > 1) {
    const { shardRouting } = await import('../shards/shard-routing.ts');
    const routing = shardRouting({
      ...parts,
      index,
      count,
      faults,
      places: numbers.places,
      unsent,
    });
    ({ router: callable, handle } = routing);
    meet = (peer) => routing.router.connect(peer);
    away = (other, pauseMs) => routing.router.away(other, pauseMs);
    for (const peer of [...peers, ...earlyPeers]) meet(peer);
  } else handle = requestHandler(parts);
  answers = new ShardAnswers({ ring, engine: callable, descriptor: guest.descriptor, chance });
  const { createHttpServer } = await httpServer;
  const server = createHttpServer({
    routes,
    settings: settings.rooms.http,
    cors: settings.rooms['http.cors'],
    chance,
    callerOf: (socket) => (settings.deployed ? INTERNET : callerOfAddress(socket.remoteAddress)),
    handle,
    budgets,
    observer: { recorder: ring, counts: numbers.http, firstPlace: numbers.places.firstRoute },
    log: {
      warn: ({ err, guestMessage: _told, ...fields }, message) =>
        log('warn', message, { ...fields, ...faults.fields(err) }, err),
      error: ({ err, ...fields }, message) =>
        log('error', message, { ...fields, ...faults.fields(err) }, err),
      unlogged: (failure) => void faults.fields(failure),
    },
  });
  const samples = new NumberSamples(numbers, { engine, guest, server, budgets });
  samples.take();
  setInterval(() => samples.take(), SAMPLE_MS).unref();
  const toldToStop = nextMessage('stop');
  const toldToClose = nextMessage('close');
  const address = { ...settings.address, isShared: count > 1 };
  tell({
    kind: 'listening',
    address: settings.http ? await server.listen(address) : undefined,
  });

  const { graceMs } = await toldToStop;
  const { hasCut } = await server.stop(graceMs);
  tell({ kind: 'finished', hasCut });
  await toldToClose;
  await engine.close();
  await journal.close();
  await guest.close();
  logRate.report(performance.now());
  tell({ kind: 'stopped' });
}

/** Waits for the supervisor's next word, which has to be of this kind. */
async function nextMessage<Kind extends ToShard['kind']>(
  kind: Kind,
): Promise<Extract<ToShard, { kind: Kind }>> {
  const { promise, resolve } = Promise.withResolvers<Extract<ToShard, { kind: Kind }>>();
  const listen = (message: ToShard) => {
    if (message.kind !== kind) return;
    supervisor.off('message', listen);
    resolve(message as Extract<ToShard, { kind: Kind }>);
  };
  supervisor.on('message', listen);
  return promise;
}

try {
  await run();
} catch (error) {
  if (!(error instanceof SvcError)) throw error;
  const frames = faults.frames(error);
  tell({ kind: 'failed', code: error.code, message: error.message, frames });
}
