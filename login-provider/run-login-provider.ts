// RunLoginProvider runs the login provider of this process: it reads the settings, the people and the keys, serves until it is
// stopped, and turns a failure into a message and an exit code.
import type { Log } from '@svc/kit/log';
import type { ProgramInputs } from '@svc/kit/program-flags';
import { runProgram } from '@svc/kit/program-run';
import { keptKeys } from './kept-keys.ts';
import {
  type LoginProviderSettings,
  readLoginProviderSettings,
} from './login-provider-settings.ts';
import { LoginServer } from './login-server.ts';
import { readPeopleFile } from './people-file.ts';

const BANNER =
  'This login provider is for development only: it asks for no password, so everybody who reaches it can be anybody in the file of people';

/** Resolves with the exit code once the provider has stopped or could not start. Rejects only with an error that is no SvcError. */
export function runLoginProvider(
  inputs: ProgramInputs,
  stopRequested: Promise<string>,
): Promise<number> {
  return runProgram({
    readSettings: () => readLoginProviderSettings(inputs),
    nameOf: () => 'login-provider',
    serve: (settings, log) => serve(settings, log, stopRequested),
  });
}

/** Resolves once the provider has stopped. Rejects with an SvcError if it cannot start. */
async function serve(
  settings: LoginProviderSettings,
  log: Log,
  stopRequested: Promise<string>,
): Promise<void> {
  const { people, machines } = readPeopleFile(settings.peopleFile);
  const keys = keptKeys(settings.dataFolder);
  log({ level: 'warn', message: BANNER, fields: { people: people.size, machines: machines.size } });
  const server = await LoginServer.start({ settings, accounts: { people, machines }, keys, log });
  const { issuer, url } = server;
  log({ level: 'info', message: 'listening', fields: { url, issuer } });
  process.stdout.write(`${url}\n`);
  const reason = await stopRequested;
  log({ level: 'info', message: 'stopping', fields: { reason } });
  await server.stop(settings.section.stopTimeoutMs);
  log({ level: 'info', message: 'stopped' });
}
