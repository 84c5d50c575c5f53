// Shard: the thread that runs a module. It wires the parts together: the module's guest, the engine
// over it, and the HTTP server in front. It is started by the supervisor with ShardSettings, and talks
// to it in the words of shard-messages.ts.
import { parentPort, workerData } from 'node:worker_threads';
import { developerLimits } from './engine/engine-limits.ts';
import { createEngine } from './engine/entity-engine.ts';
import { createWasmGuest } from './hosting/wasm/wasm-guest.ts';
import { callerOfAddress, INTERNET } from './http/access.ts';
import { RouteTable } from './http/route-table.ts';
import { GuestFault } from './model/guest-fault.ts';
import { SvcError } from './model/svc-error.ts';
import { requestHandler } from './request-handler.ts';
import type { FromShard, LogEntry, ShardSettings, ToShard } from './shard-messages.ts';
import { attachJournal } from './storage/attached-journal.ts';
import { systemChance, systemClock } from './system.ts';

const settings = workerData as ShardSettings;
const supervisor = parentPort!;
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
const tell = (message: FromShard) => supervisor.postMessage(message);
const log = (level: LogEntry['level'], message: string, fields: LogEntry['fields'] = {}) =>
  tell({ kind: 'log', entry: { level, message, fields } });

async function run(): Promise<void> {
  const guest = await createWasmGuest(settings.moduleBytes, settings.rooms.wasm, (line) =>
    log(line.level, line.message, { from: line.source }),
  );
  const routes = new RouteTable(guest.descriptor);
  const toldToServe = nextMessage('serve');
  tell({ kind: 'admitted', descriptor: guest.descriptor });
  // The largest part of the host's code: it is loaded while the journal is opened.
  const httpServer = import('./http/http-server.ts');
  const journal = attachJournal((await toldToServe).journal, settings.dataFolder);

  const chance = systemChance();
  const engine = createEngine({
    guest,
    journal,
    clock: systemClock,
    chance,
    limits: settings.deployed ? settings.rooms.engine : developerLimits(settings.rooms.engine),
    faultLog: ({ component, id }, handler, fault) =>
      log('warn', 'an entity failed', {
        component,
        entity: id,
        ...(handler === undefined ? {} : { handler }),
        ...faultFields(fault),
      }),
  });
  const { createHttpServer } = await httpServer;
  const server = createHttpServer({
    routes,
    settings: settings.rooms.http,
    chance,
    callerOf: (socket) => (settings.deployed ? INTERNET : callerOfAddress(socket.remoteAddress)),
    handle: requestHandler({ guest, engine, clock: systemClock, chance }),
    log: {
      warn: ({ err: _stackless, ...fields }, message) => log('warn', message, fields),
      error: ({ err, ...fields }, message) =>
        log('error', message, { ...fields, ...faultFields(err) }),
    },
  });
  const toldToStop = nextMessage('stop');
  tell({ kind: 'listening', address: await server.listen(settings.address) });

  const { graceMs } = await toldToStop;
  await server.stop(graceMs);
  await engine.close();
  await journal.close();
  await guest.close();
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

/** What the log keeps of a failure. */
function faultFields(fault: unknown): Record<string, string> {
  if (fault instanceof GuestFault)
    return {
      code: fault.faultCause,
      reason: fault.message,
      ...(fault.guestMessage === undefined ? {} : { guestMessage: fault.guestMessage }),
    };
  if (fault instanceof SvcError) return { code: fault.code, reason: fault.message };
  return {
    code: 'bug',
    reason: fault instanceof Error ? (fault.stack ?? fault.message) : String(fault),
  };
}

try {
  await run();
} catch (error) {
  if (!(error instanceof SvcError)) throw error;
  tell({ kind: 'failed', code: error.code, message: error.message });
}
