// Shard: the thread that runs a module. It wires the parts together: the module's guest, the engine
// over it, and the HTTP server in front. It is started by the supervisor with ShardSettings, and talks
// to it in the words of shard-messages.ts.
import { parentPort, workerData } from 'node:worker_threads';
import { FaultReport } from './fault-report.ts';
import { developerLimits } from './engine/engine-limits.ts';
import { createEngine } from './engine/entity-engine.ts';
import { startWasmGuest } from './hosting/wasm/wasm-guest.ts';
import { callerOfAddress, INTERNET } from './http/access.ts';
import { RouteTable } from './http/route-table.ts';
import { LimitCounters } from './limit-counters.ts';
import { LogRate } from './log-rate.ts';
import { LoopTurn } from './loop-turn.ts';
import { SvcError } from './model/svc-error.ts';
import { requestHandler } from './request-handler.ts';
import type { FromShard, LogEntry, ShardSettings, ToShard } from './shard-messages.ts';
import { attachJournal } from './storage/attached-journal.ts';
import { systemChance, systemClock } from './system.ts';

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
const log = (level: LogEntry['level'], message: string, fields: LogEntry['fields'] = {}) =>
  logRate.write({ level, message, fields }, performance.now());

supervisor.on('message', (message: ToShard) => {
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
  const httpServer = import('./http/http-server.ts');
  const journal = attachJournal((await toldToServe).journal, settings.dataFolder);

  const chance = systemChance();
  const turn = new LoopTurn();
  const engine = createEngine({
    guest,
    journal,
    clock: systemClock,
    chance,
    turn,
    limits: settings.deployed ? settings.rooms.engine : developerLimits(settings.rooms.engine),
    faultLog: ({ component, id }, handler, fault) =>
      log('warn', 'an entity failed', {
        component,
        entity: id,
        ...(handler === undefined ? {} : { handler }),
        ...faults.fields(fault),
      }),
  });
  const { createHttpServer } = await httpServer;
  const server = createHttpServer({
    routes,
    settings: settings.rooms.http,
    chance,
    callerOf: (socket) => (settings.deployed ? INTERNET : callerOfAddress(socket.remoteAddress)),
    handle: requestHandler({ guest, engine, clock: systemClock, chance, turn }),
    log: {
      warn: ({ err, guestMessage: _told, ...fields }, message) =>
        log('warn', message, { ...fields, ...faults.fields(err) }),
      error: ({ err, ...fields }, message) =>
        log('error', message, { ...fields, ...faults.fields(err) }),
      unlogged: (failure) => void faults.fields(failure),
    },
  });
  const toldToStop = nextMessage('stop');
  tell({ kind: 'listening', address: await server.listen(settings.address) });

  const { graceMs } = await toldToStop;
  await server.stop(graceMs);
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
  tell({ kind: 'failed', code: error.code, message: error.message });
}
