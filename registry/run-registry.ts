// RunRegistry runs the registry of this process: it reads the settings, opens the folder of the images, serves until it is stopped, and
// turns a failure into a message and an exit code.
import { createLog, type Log } from '@svc/kit/log';
import { EXIT_OK, reportFailure } from '@svc/kit/program-failure';
import type { ProgramInputs } from '@svc/kit/program-flags';
import { ImageStore } from './image-store.ts';
import { pullToken } from './pull-token.ts';
import { RegistryServer } from './registry-server.ts';
import { readRegistrySettings, type RegistrySettings } from './registry-settings.ts';

/** Resolves with the exit code once the registry has stopped or could not start. Rejects only with an error that is no SvcError. */
export async function runRegistry(
  inputs: ProgramInputs,
  stopRequested: Promise<string>,
): Promise<number> {
  let jsonLog: Log | undefined;
  try {
    const settings = readRegistrySettings(inputs);
    const log = createLog('registry', settings.logFormat);
    // Programs read a log in JSON, so the reason for the end is one of its entries.
    if (settings.logFormat === 'json') jsonLog = log;
    await serve(settings, log, stopRequested);
    return EXIT_OK;
  } catch (error) {
    return reportFailure(error, jsonLog);
  }
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
