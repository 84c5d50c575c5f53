// RunRegistry runs the registry of this process: it reads the settings, opens the folder of the images, serves until it is stopped, and
// turns a failure into a message and an exit code.
import type { Log } from '@svc/kit/log';
import type { ProgramInputs } from '@svc/kit/program-flags';
import { runProgram } from '@svc/kit/program-run';
import { ImageStore } from './image-store.ts';
import { pullToken } from './pull-token.ts';
import { RegistryServer } from './registry-server.ts';
import { readRegistrySettings, type RegistrySettings } from './registry-settings.ts';

/** Resolves with the exit code once the registry has stopped or could not start. Rejects only with an error that is no SvcError. */
export function runRegistry(
  inputs: ProgramInputs,
  stopRequested: Promise<string>,
): Promise<number> {
  return runProgram({
    readSettings: () => readRegistrySettings(inputs),
    nameOf: () => 'registry',
    serve: (settings, log) => serve(settings, log, stopRequested),
  });
}

/** Resolves once the registry has stopped. Rejects with an SvcError if it cannot start. */
async function serve(
  settings: RegistrySettings,
  log: Log,
  stopRequested: Promise<string>,
): Promise<void> {
  const { dataFolder, section, pullTokenFile } = settings;
  await using store = ImageStore.open({ folder: dataFolder, section, log });
  const token = await pullToken(pullTokenFile);
  const server = await RegistryServer.start({ settings, store, pullToken: token, log });
  const { url } = server;
  log({ level: 'info', message: 'listening', fields: { url, dataFolder } });
  process.stdout.write(`${url}\n`);
  const reason = await stopRequested;
  log({ level: 'info', message: 'stopping', fields: { reason } });
  await server.stop(section.stopTimeoutMs);
  log({ level: 'info', message: 'stopped' });
}
