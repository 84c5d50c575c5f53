// RunProxy runs the proxy of this process: it reads the settings, forwards (running-proxy.ts) until it is stopped, and turns a
// failure into a message and an exit code.
import { createLog, type Log } from '@svc/kit/log';
import type { ProgramInputs } from '@svc/kit/program-flags';
import { EXIT_OK, reportFailure } from '@svc/kit/program-failure';
import { readProxySettings } from './proxy-settings.ts';
import { RunningProxy } from './running-proxy.ts';

/** Resolves with the exit code once the proxy has stopped or could not start. Rejects only with an error that is no SvcError. */
export async function runProxy(
  inputs: ProgramInputs,
  stopRequested: Promise<string>,
): Promise<number> {
  let jsonLog: Log | undefined;
  try {
    const settings = readProxySettings(inputs);
    const log = createLog(settings.service, settings.logFormat);
    // Programs read a log in JSON, so the reason for the end is one of its entries.
    if (settings.logFormat === 'json') jsonLog = log;
    await new RunningProxy(settings, log).run(stopRequested);
    return EXIT_OK;
  } catch (error) {
    return reportFailure(error, jsonLog);
  }
}
