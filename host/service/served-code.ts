// ServedCode serves the code of a service until the service is stopped, and code that replaces it. The code of a process can become another one
// while it is served: a deployed service ends then, and is started again by whoever runs it; on a developer's machine the service begins
// again by itself, on the same port and journal, so that new code is judged as at every start.
import { setTimeout as pause } from 'node:timers/promises';
import type { SvcError } from '@svc/kit/svc-error';
import type { RunnableSettings, RunOptions } from './run-options.ts';
import { RunningService } from './running-service.ts';
import type { SettingsSections } from './section-settings.ts';
import type { Settings } from './settings.ts';

/** Errors of the code, or of what it needs: with other code the service can start. */
const OF_THE_CODE: ReadonlySet<string> = new Set([
  'SVC_PROCESS_INVALID',
  'SVC_PROCESS_REPLACED',
  'SVC_MANIFEST_UNREADABLE',
  'SVC_CONFIGURATION_INVALID',
  'SVC_SETTING_INVALID',
]);

/** Pause before the service begins again, in milliseconds: a process may describe itself in another way each time. */
const AGAIN_MS = 500;
const BEGINS_AGAIN = 'the process holds other code, and the service begins again';

/** Resolves when the service has stopped. `env`: the environment of svc. Rejects as `RunningService.run` does. */
export async function serveCode(
  settings: Settings<SettingsSections>,
  options: RunOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const { code, sections } = settings;
  if (code.kind !== 'command') return serve({ ...settings, code }, options);
  // A service with a module does not load this code.
  const { KeptCommand } = await import('./kept-command.ts');
  const command = await KeptCommand.start(code, { sections, env, log: options.log });
  try {
    const awaitOther = code.watched === undefined ? undefined : () => command.listensAgain;
    await serve({ ...settings, code: command.code }, options, awaitOther);
  } finally {
    await command.stop();
  }
}

/** `awaitOther`: resolves when there may be other code; undefined: code that cannot be served ends the service. */
async function serve(
  settings: RunnableSettings,
  options: RunOptions,
  awaitOther?: () => Promise<void>,
): Promise<void> {
  const { log, stopRequested } = options;
  const stops = new StopPromises(stopRequested);
  for (let { port } = settings; ;) {
    // Other code may come while this one is still failing.
    const other = awaitOther?.();
    const stop = stops.next();
    const service = new RunningService({ ...settings, port }, { ...options, stopRequested: stop });
    try {
      return await service.run();
    } catch (error) {
      port = service.port ?? port;
      const { code, message } = error as SvcError;
      if (settings.deployed || !OF_THE_CODE.has(code)) throw error;
      const isReplaced = code === 'SVC_PROCESS_REPLACED';
      if (!isReplaced && other === undefined) throw error;
      log({
        level: isReplaced ? 'info' : 'error',
        message: isReplaced ? BEGINS_AGAIN : `${message} Waiting for a change.`,
        fields: { code },
      });
      const goOn = isReplaced ? pause(AGAIN_MS) : other!;
      if ((await Promise.race([goOn, stop])) !== undefined) return undefined;
    }
  }
}

/** Gives each run of a service a promise of the stop that the run alone keeps, so that runs that are over can be forgotten. */
class StopPromises {
  #current = Promise.withResolvers<string>();
  #reason: string | undefined;

  constructor(stopRequested: Promise<string>) {
    void stopRequested.then((reason) => {
      this.#reason = reason;
      this.#current.resolve(reason);
    });
  }

  next(): Promise<string> {
    this.#current = Promise.withResolvers();
    if (this.#reason !== undefined) this.#current.resolve(this.#reason);
    return this.#current.promise;
  }
}
