// The service of this process: reads the settings, opens the journal, has the supervisor run the module
// in a thread, says where the service is, and stops it when it is told to. It wires; it decides nothing.
import { relative } from 'node:path';
import { admitModuleFile } from '../hosting/wasm/admission/admission-thread.ts';
import { announcement } from '../introspection/announcement.ts';
import { forbidCodeFromStrings } from './code-from-strings.ts';
import type { BuiltModule, DevLoop } from '../dev/dev-loop.ts';
import type { FromDevHost } from '../dev/dev-messages.ts';
import { LimitLog } from '../log/limit-log.ts';
import { createLog, type Log } from '../log/log.ts';
import { MetricsSource } from '../introspection/metrics-source.ts';
import { printable } from '../model/printable.ts';
import { SvcError } from '../model/svc-error.ts';
import {
  checkRoomSettings,
  ROOM_DEFAULTS,
  ROOM_RANGES,
  type RoomSettings,
} from './section-settings.ts';
import { readSettings, type Settings, type Surroundings } from './settings.ts';
import { shardCount } from '../shards/shard-count.ts';
import type { Address } from '../shards/shard-messages.ts';
import { shardLimits } from '../shards/shard-limits.ts';
import { JournalSeries } from '../storage/journal-series.ts';
import { openSqliteJournal, type SqliteJournal } from '../storage/sqlite/sqlite-journal.ts';
import { Supervisor } from '../shards/supervisor.ts';
import { systemClock } from '../system.ts';
import { PlacedLog } from '../introspection/placed-log.ts';
import type { ReplacingModule, ServedService, Surface } from '../introspection/surface.ts';
import { checkManifests } from './unread-manifests.ts';
import { makeObjectsYoung } from './young-objects.ts';

/** How often the log learns which limits were met. */
const LIMITS_TOLD_MS = 60_000;
const EXIT_OK = 0;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** Resolves with the exit code, once the service has stopped or could not be served. */
export async function runService(
  surroundings: Surroundings,
  toldToStop: Promise<string>,
): Promise<number> {
  let deployedLog: Log | undefined;
  try {
    const settings = readSettings(surroundings, ROOM_DEFAULTS, ROOM_RANGES);
    // What reads a deployed instance's log reads lines of JSON, and the reason of its end among them.
    const log = createLog(settings.name, settings.logFormat);
    if (settings.deployed) deployedLog = log;
    checkRoomSettings(settings.rooms);
    forbidCodeFromStrings();
    makeObjectsYoung();
    await serve(settings, { log, env: shardEnvironment(surroundings), toldToStop });
    return EXIT_OK;
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    const { code, message } = error;
    if (deployedLog === undefined) process.stderr.write(`svc: ${printable(message)} [${code}]\n`);
    else deployedLog({ level: 'error', message, fields: { code } });
    return code === 'SVC_USAGE' ? EXIT_USAGE : EXIT_FAILED;
  }
}

/** Nothing of the environment is a shard's business, but where Node keeps what it has compiled of the host. */
function shardEnvironment({ env }: Surroundings): Readonly<Record<string, string>> {
  const { NODE_COMPILE_CACHE } = env;
  return NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
}

/** What a developer's loop is told by, and how it ends. */
export interface AroundDev {
  readonly dev: DevLoop;
  readonly tell: (message: FromDevHost) => void;
  readonly toldToStop: Promise<string>;
}

/**
 * As runService, for a module that changes while it is served; which one, the loop is told. Without one that can be
 * served it waits for another.
 */
export async function runDevService(
  { args, env, ...around }: Surroundings,
  { dev, tell, toldToStop }: AroundDev,
): Promise<number> {
  forbidCodeFromStrings();
  makeObjectsYoung();
  const stopped = toldToStop.then(() => undefined);
  for (;;) {
    const built = await Promise.race([dev.nextModule(), stopped]);
    if (built === undefined) return EXIT_OK;
    let settings: Settings<RoomSettings> | undefined;
    try {
      const surroundings = { ...around, env, args: [...args, '--', built.file] };
      settings = readSettings(surroundings, ROOM_DEFAULTS, ROOM_RANGES);
      checkRoomSettings(settings.rooms);
      const shardEnv = shardEnvironment(surroundings);
      await serve(
        { ...settings, shards: 1 },
        { log: dev.log, env: shardEnv, toldToStop, loop: { dev, built } },
      );
      return EXIT_OK;
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      const { code, message } = error;
      if (settings !== undefined && code.startsWith('SVC_MODULE_'))
        dev.refused(error, built.file, settings.rooms.wasm);
      else {
        tell({ kind: 'failed', code, message });
        return code === 'SVC_USAGE' ? EXIT_USAGE : EXIT_FAILED;
      }
    }
  }
}

interface Around {
  readonly log: Log;
  /** Of the shards. */
  readonly env: Readonly<Record<string, string>>;
  readonly toldToStop: Promise<string>;
  /** That of a developer, if one works on it. */
  readonly loop?: { readonly dev: DevLoop; readonly built: BuiltModule };
}

async function serve(
  settings: Settings<RoomSettings>,
  { log: plainLog, env, toldToStop, loop }: Around,
): Promise<void> {
  // `svc dev` shows places by itself, and what reads lines of JSON looks for no second one.
  const hasPlaces = loop === undefined && !settings.deployed && settings.logFormat === 'text';
  const placed = new PlacedLog(plainLog, async (span) => (await surface.placesOf?.(span)) ?? []);
  const log = hasPlaces ? placed.log : plainLog;
  const shards = shardCount(settings.shards, process.platform, log);
  const stopsAdmission = new AbortController();
  let journal: SqliteJournal | undefined;
  let opening: Promise<SqliteJournal> | undefined;
  const opened = Promise.withResolvers<SqliteJournal>();
  const journalSeries = new JournalSeries();
  const module = admitModuleFile(settings.moduleFile, settings.rooms.wasm, {
    env,
    signal: stopsAdmission.signal,
  });
  // Each shard looks at it, and there may never be one.
  module.catch(() => {});
  const openJournal = async (): Promise<SqliteJournal> => {
    journal = await openSqliteJournal(settings.dataFolder, settings.rooms.journal, {
      series: journalSeries,
    });
    // Without its writer the service can promise nothing any more.
    void journal.failure.then((failure) => ended.reject(failure));
    const { fingerprint, descriptor } = await module;
    // A developer is told of them, and goes on.
    if (loop === undefined) checkManifests(journal.dir, descriptor, settings.allowUnread);
    const timeMs = systemClock.nowMs();
    journal.noteModule({ fingerprint, descriptor: JSON.stringify(descriptor), timeMs });
    opened.resolve(journal);
    return journal;
  };
  const ended = Promise.withResolvers<string>();
  void toldToStop.then(ended.resolve);
  const supervisor = new Supervisor({
    shardFile: new URL('./shard.ts', import.meta.url),
    settings: {
      name: settings.name,
      deployed: settings.deployed,
      address: { host: settings.host, port: settings.port },
      http: settings.http,
      count: shards,
      rooms: shardLimits(settings.rooms, shards),
    },
    module,
    limits: settings.rooms.supervisor,
    env,
    connectJournal: async () => (await (opening ??= openJournal())).connect(),
    log,
    servesAgain: () => loop?.dev.servesAgain(),
  });

  ended.promise.catch(() => {});
  const limitLog = new LimitLog(supervisor.counters, log);
  const limitTimer = setInterval(() => limitLog.tell(), LIMITS_TOLD_MS);
  const metrics = new MetricsSource({
    supervisor,
    journal: journalSeries,
    ringCapacity: settings.rooms.observability.ringCapacity,
  });
  const dev = loop === undefined ? {} : { dev: () => loop.dev.state() };
  const shown = {
    settings,
    supervisor,
    module,
    journal: opened.promise,
    metrics,
    env,
    log,
    ...dev,
  };
  const surface: Surface = settings.deployed
    ? (await import('../introspection/deployed-surface.ts')).deployedSurface(shown)
    : (await import('../introspection/local-surface.ts')).localSurface(shown);
  let inTime = true;
  try {
    await surface.open();
    const start = supervisor.start().catch(async (failure: unknown) => {
      if (loop !== undefined || settings.deployed) throw failure;
      const { placedStartFailure } = await import('../introspection/start-failure.ts');
      const { moduleFile: file, dataFolder: dir, rooms } = settings;
      const work = async () => ({ dir, module: await module, limits: rooms.wasm });
      throw await placedStartFailure(failure, { file, env, work });
    });
    const started = await Promise.race([start, ended.promise]);
    if (typeof started !== 'string') {
      const { address, descriptor } = started;
      const url = address === undefined ? undefined : urlOf(address);
      // First, so that whoever waits for the announcement finds the service registered.
      await surface.served({ url, descriptor });
      if (loop === undefined) announce(settings, log, { url, descriptor });
      if (loop !== undefined) {
        const { ModuleSwap } = await import('../dev/module-swap.ts');
        const limits = settings.rooms.wasm;
        const replaced = (by: ReplacingModule) => surface.replaced?.(by);
        const writing = await opened.promise;
        const { file } = loop.built;
        const swap = new ModuleSwap({
          file,
          supervisor,
          journal: writing,
          limits,
          env,
          replaced,
        });
        loop.dev.begin({ url, module: await module, limits, swap }, loop.built);
      }
    }
    log({ level: 'info', message: 'stopping', fields: { reason: await ended.promise } });
  } finally {
    await loop?.dev.end();
    surface.stopping();
    clearInterval(limitTimer);
    stopsAdmission.abort();
    inTime = await supervisor.stop(async () => surface.finished?.());
    limitLog.tell();
    await journal?.close();
    await surface.close();
    await placed.settled();
  }
  log({
    level: 'info',
    message: inTime ? 'stopped' : 'stopped, and cut what did not finish in time',
  });
}

function urlOf({ host, port }: Address): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** For a person as text, among lines of JSON as one of them; the address alone for a script. */
function announce(
  { name, dataFolder, deployed, logFormat }: Settings<RoomSettings>,
  log: Log,
  { url, descriptor }: ServedService,
): void {
  const { pid } = process;
  const shownFolder = relative(process.cwd(), dataFolder) || '.';
  if (url === undefined) {
    log({ level: 'info', message: 'serving without HTTP', fields: { dataFolder, pid } });
    return;
  }
  if (deployed || logFormat === 'json')
    log({ level: 'info', message: 'listening', fields: { url, dataFolder, pid } });
  else process.stderr.write(announcement({ name, url, dataFolder: shownFolder, pid, descriptor }));
  process.stdout.write(`${url}\n`);
}
