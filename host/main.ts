// The host's process: reads the settings, opens the journal, has the supervisor run the module in a
// thread, says where the service is, and stops it at a signal. It wires; it decides nothing.
import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { announcement } from './announcement.ts';
import { checkHttpSettings } from './http/http-settings.ts';
import { createLog, escapeControls } from './log.ts';
import { SvcError } from './model/svc-error.ts';
import { ROOM_DEFAULTS } from './room-settings.ts';
import { readSettings } from './settings.ts';
import type { Address } from './shard-messages.ts';
import { openSqliteJournal, type SqliteJournal } from './storage/sqlite-journal.ts';
import { Supervisor } from './supervisor.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

async function main(): Promise<void> {
  const settings = readSettings(
    {
      args: process.argv.slice(2),
      env: process.env,
      stderrIsTerminal: process.stderr.isTTY,
    },
    ROOM_DEFAULTS,
  );
  checkHttpSettings(settings.rooms.http);
  const log = createLog(settings.name, settings.logFormat);
  const moduleBytes = await readModule(settings.moduleFile);

  let journal: SqliteJournal | undefined;
  const toldToStop = Promise.withResolvers<string>();
  onSignal((signal) => toldToStop.resolve(signal));
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
        void journal.failure.then((failure) => toldToStop.reject(failure));
      }
      return journal.connect();
    },
    log,
  });

  toldToStop.promise.catch(() => {});
  let inTime = true;
  try {
    const started = await Promise.race([supervisor.start(), toldToStop.promise]);
    if (typeof started !== 'string') {
      const url = urlOf(started.address);
      const dataFolder = relative(process.cwd(), settings.dataFolder) || '.';
      process.stderr.write(
        announcement({
          name: settings.name,
          url,
          dataFolder,
          pid: process.pid,
          descriptor: started.descriptor,
        }),
      );
      process.stdout.write(`${url}\n`);
    }
    log({ level: 'info', message: 'stopping', fields: { signal: await toldToStop.promise } });
  } finally {
    inTime = await supervisor.stop();
    await journal?.close();
  }
  log({
    level: 'info',
    message: inTime ? 'stopped' : 'stopped, and cut what did not finish in time',
  });
}

function urlOf({ host, port }: Address): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
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

/** The first signal stops the service; the same one again ends the process at once. */
function onSignal(stop: (signal: string) => void): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop(signal));
}

// Who read what is written here may be gone (a closed pipe); the service is not theirs to end.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

try {
  await main();
} catch (error) {
  if (!(error instanceof SvcError)) throw error;
  process.stderr.write(`svc: ${escapeControls(error.message)} [${error.code}]\n`);
  process.exitCode = error.code === 'SVC_USAGE' ? EXIT_USAGE : EXIT_FAILED;
}
