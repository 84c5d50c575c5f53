// RunGateway runs the gateway of this process: it reads the settings, forwards (running-gateway.ts) until it is stopped, and turns a
// failure into a message and an exit code.
import { listeningSockets } from '@svc/kit/listening-sockets';
import { createLog, type Log } from '@svc/kit/log';
import type { ProgramInputs } from '@svc/kit/program-flags';
import { EXIT_OK, reportFailure } from '@svc/kit/program-failure';
import { readGatewaySettings } from './gateway-settings.ts';
import { RunningGateway } from './running-gateway.ts';

/** Resolves with the exit code once the gateway has stopped or could not start. Rejects only with an error that is no SvcError. */
export async function runGateway(
  inputs: ProgramInputs,
  stopRequested: Promise<string>,
): Promise<number> {
  let jsonLog: Log | undefined;
  try {
    const settings = readGatewaySettings(inputs);
    const log = createLog('gateway', settings.logFormat);
    // Programs read a log in JSON, so the reason for the end is one of its entries.
    if (settings.logFormat === 'json') jsonLog = log;
    const sockets = listeningSockets(inputs.env, [process.pid, process.ppid]);
    await new RunningGateway(settings, log, sockets).run(stopRequested);
    return EXIT_OK;
  } catch (error) {
    return reportFailure(error, jsonLog);
  }
}
