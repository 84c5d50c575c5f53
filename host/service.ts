// The service of this process: reads the settings, opens the journal, has the supervisor run the module
// in a thread, says where the service is, and stops it when it is told to. It wires; it decides nothing.
import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import type { ModuleDescriptor } from '@svc/contract';
import { announcement } from './announcement.ts';
import { createLog, escapeControls, type Log } from './log.ts';
import { SvcError } from './model/svc-error.ts';
import {
  checkRoomSettings,
  ROOM_DEFAULTS,
  ROOM_RANGES,
  type RoomSettings,
} from './room-settings.ts';
import { readSettings, type Settings, type Surroundings } from './settings.ts';
import { openSqliteJournal, type SqliteJournal } from './storage/sqlite-journal.ts';
import { Supervisor } from './supervisor.ts';

const EXIT_OK = 0;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** Resolves with the exit code, once the service has stopped or could not be served. */
export async function runService(
  surroundings: Surroundings,
  toldToStop: Promise<string>,
): Promise<number> {
  let log: Log | undefined;
  try {
    const settings = readSettings(surroundings, ROOM_DEFAULTS, ROOM_RANGES);
    // What reads a deployed instance's log reads lines of JSON, and the reason of its end among them.
    if (settings.deployed) log = createLog(settings.name, settings.logFormat);
    checkRoomSettings(settings.rooms);
    await serve(settings, log ?? createLog(settings.name, settings.logFormat), toldToStop);
    return EXIT_OK;
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    const { code, message } = error;
    if (log === undefined) process.stderr.write(`svc: ${escapeControls(message)} [${code}]\n`);
    else log({ level: 'error', message, fields: { code } });
    return code === 'SVC_USAGE' ? EXIT_USAGE : EXIT_FAILED;
  }
}

async function serve(
  settings: Settings<RoomSettings>,
  log: Log,
  toldToStop: Promise<string>,
): Promise<void> {
  const moduleBytes = await readModule(settings.moduleFile);
  let journal: SqliteJournal | undefined;
  const ended = Promise.withResolvers<string>();
  void toldToStop.then(ended.resolve);
  const supervisor = new Supervisor({
    shardFile: new URL('./shard.ts', import.meta.url),
    settings: {
      moduleBytes,
      name: settings.name,
      deployed: settings.deployed,
      dataFolder: settings.dataFolder,
      address: { host: settings.host, port: settings.port },
      rooms: settings.rooms,
    },
    limits: settings.rooms.supervisor,
    connectJournal: async () => {
      if (journal === undefined) {
        journal = await openSqliteJournal(settings.dataFolder);
        // Without its writer the service can promise nothing any more.
        void journal.failure.then((failure) => ended.reject(failure));
      }
      return journal.connect();
    },
    log,
  });

  ended.promise.catch(() => {});
  let inTime = true;
  try {
    const started = await Promise.race([supervisor.start(), ended.promise]);
    if (typeof started !== 'string') {
      const { host, port } = started.address;
      announce(settings, log, {
        url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
        descriptor: started.descriptor,
      });
    }
    log({ level: 'info', message: 'stopping', fields: { reason: await ended.promise } });
  } finally {
    inTime = await supervisor.stop();
    await journal?.close();
  }
  log({
    level: 'info',
    message: inTime ? 'stopped' : 'stopped, and cut what did not finish in time',
  });
}

/** For a person as text, among lines of JSON as one of them; the address alone for a script. */
function announce(
  { name, dataFolder, deployed, logFormat }: Settings<RoomSettings>,
  log: Log,
  { url, descriptor }: { readonly url: string; readonly descriptor: ModuleDescriptor },
): void {
  const { pid } = process;
  const shownFolder = relative(process.cwd(), dataFolder) || '.';
  if (deployed || logFormat === 'json')
    log({ level: 'info', message: 'listening', fields: { url, dataFolder, pid } });
  else process.stderr.write(announcement({ name, url, dataFolder: shownFolder, pid, descriptor }));
  process.stdout.write(`${url}\n`);
}

async function readModule(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new SvcError(
      'SVC_MODULE_UNREADABLE',
      `The module ${file} cannot be read (${(error as NodeJS.ErrnoException).code}). Give the path of a .wasm file.`,
      { cause: error },
    );
  }
}
