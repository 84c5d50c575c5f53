// ServedCode serves the code of a service until the service is stopped, and code that replaces it. The code of a process can become another one
// while it is served: a deployed service ends then, and is started again by whoever runs it; on a developer's machine the service begins
// again by itself, on the same port and journal, so that new code is judged as at every start.
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

/** Resolves when the service has stopped. `env`: the environment of svc. Rejects as `RunningService.run` does. */
export async function serveCode(
  settings: Settings<SettingsSections>,
  options: RunOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const { code, sections } = settings;
  if (code.kind !== 'command') return serve({ ...settings, code }, options);
  // A service with a module does not load this code.
  const { ProcessCommand } = await import('./process-command.ts');
  const command = await ProcessCommand.start(code, { sections, env, log: options.log });
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
  const stopped = stopRequested.then(() => 'stopped' as const);
  for (let { port } = settings; ;) {
    const service = new RunningService({ ...settings, port }, options);
    try {
      return await service.run();
    } catch (error) {
      port = service.port ?? port;
      const { code, message } = error as SvcError;
      if (settings.deployed || !OF_THE_CODE.has(code)) throw error;
      if (code === 'SVC_PROCESS_REPLACED') {
        log({
          level: 'info',
          message: 'the process holds other code, and the service begins again',
        });
        continue;
      }
      if (awaitOther === undefined) throw error;
      log({ level: 'error', message, fields: { code } });
      if ((await Promise.race([awaitOther(), stopped])) === 'stopped') return undefined;
    }
  }
}
