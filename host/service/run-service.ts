// RunService runs the service of this process: it reads the settings, serves the module (running-service.ts) until it
// is stopped, and turns a failure into a message and an exit code.
import type { DevLoop } from '../dev/dev-loop.ts';
import type { FromDevHost } from '../dev/dev-messages.ts';
import type { Log } from '@svc/kit/log';
import type { LogFiles } from '@svc/kit/log-files';
import { openServiceLog } from '@svc/kit/opened-log';
import { EXIT_OK, exitCodeOf, reportFailure } from '@svc/kit/program-failure';
import { exitOf, openStatus } from '@svc/kit/service-status';
import { SvcError } from '@svc/kit/svc-error';
import { checkModuleSockets } from './given-sockets.ts';
import { forbidCodeFromStrings } from './code-from-strings.ts';
import { withRemotingPort } from './remoting-settings.ts';
import { RunningService } from './running-service.ts';
import { serveCode } from './served-code.ts';
import {
  checkSections,
  SECTION_DEFAULTS,
  SECTION_RANGES,
  type SettingsSections,
} from './section-settings.ts';
import { type HostInputs, readSettings, readStateFile, type Settings } from './settings.ts';
import { exposeGarbageCollector } from './garbage-collector.ts';
import { makeObjectsYoung } from './young-objects.ts';

/**
 * Runs the service. Resolves with the exit code once the service has stopped or could not be served. Rejects only with
 * an error that is not an SvcError.
 */
export async function runService(
  inputs: HostInputs,
  stopRequested: Promise<string>,
): Promise<number> {
  const status = openStatus(readStateFile(inputs));
  status.enter('starting');
  let programLog: Log | undefined;
  let files: LogFiles | undefined;
  try {
    const given = readSettings(inputs, SECTION_DEFAULTS, SECTION_RANGES);
    const remoting = given.database ? await withRemotingPort(given.remoting) : given.remoting;
    const settings = { ...given, remoting };
    // Programs read the log of a deployed instance, so the reason for its end is written as an entry of the log.
    const { name, logFormat, logFolder, sections } = settings;
    const opened = openServiceLog(name, logFormat, {
      folder: logFolder,
      limits: sections['log.files'],
    });
    const { log } = opened;
    ({ files } = opened);
    if (settings.deployed || files !== undefined) programLog = log;
    checkSections(settings.sections);
    checkModuleSockets(settings.sockets, settings.code);
    forbidCodeFromStrings();
    makeObjectsYoung();
    exposeGarbageCollector();
    const endAtOnce = (error: SvcError) => {
      status.end(exitOf(error));
      process.exit(reportFailure(error, programLog));
    };
    const env = threadEnvironment(inputs, settings);
    await serveCode(settings, { log, env, stopRequested, status, endAtOnce }, inputs.env);
    status.end({ code: EXIT_OK, signal: null });
    return EXIT_OK;
  } catch (error) {
    status.end(exitOf(error));
    return reportFailure(error, programLog);
  } finally {
    await files?.close();
  }
}

/**
 * Returns the environment of the service's threads, which only has the folder of Node's compile cache, and the variable with the URL of
 * the database: each thread connects by itself.
 */
function threadEnvironment(
  { env }: HostInputs,
  { database }: Pick<Settings<SettingsSections>, 'database'>,
): Readonly<Record<string, string>> {
  const names = ['NODE_COMPILE_CACHE'];
  if (database?.kind === 'environment') names.push(database.variable);
  const known = names.flatMap((name): [string, string][] => {
    const value = env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(known);
}

/** The loop of `svc dev` and its callbacks. */
export interface DevCallbacks {
  readonly dev: DevLoop;
  readonly send: (message: FromDevHost) => void;
  readonly stopRequested: Promise<string>;
}

/**
 * Like runService, for a module that is replaced while it is served: the loop delivers the modules. If the first module
 * is refused, this function waits for the next one; any other failure is sent and ends the function.
 */
export async function runDevService(
  { args, env, ...rest }: HostInputs,
  { dev, send, stopRequested }: DevCallbacks,
): Promise<number> {
  forbidCodeFromStrings();
  makeObjectsYoung();
  exposeGarbageCollector();
  const stopped = stopRequested.then(() => undefined);
  for (;;) {
    const built = await Promise.race([dev.nextModule(), stopped]);
    if (built === undefined) return EXIT_OK;
    let settings: Settings<SettingsSections> | undefined;
    try {
      const inputs = { ...rest, env, args: [...args, '--', built.file] };
      settings = readSettings(inputs, SECTION_DEFAULTS, SECTION_RANGES);
      checkSections(settings.sections);
      const service = new RunningService(
        { ...settings, code: { kind: 'module', file: built.file }, shards: 1 },
        {
          log: dev.log,
          env: threadEnvironment(inputs, settings),
          stopRequested,
          loop: { dev, built },
        },
      );
      await service.run();
      return EXIT_OK;
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      const { code, message } = error;
      if (settings !== undefined && code.startsWith('SVC_MODULE_'))
        dev.refused(error, built.file, { wasm: settings.sections.wasm });
      else {
        send({ kind: 'failed', code, message });
        return exitCodeOf(error);
      }
    }
  }
}
