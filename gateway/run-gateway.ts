// RunGateway runs the gateway of this process: it reads the settings, forwards (running-gateway.ts) until it is stopped, and turns a
// failure into a message and an exit code.
import { listeningSockets } from '@svc/kit/listening-sockets';
import type { ProgramInputs } from '@svc/kit/program-flags';
import { runProgram } from '@svc/kit/program-run';
import { readGatewaySettings } from './gateway-settings.ts';
import { RunningGateway } from './running-gateway.ts';

/** Resolves with the exit code once the gateway has stopped or could not start. Rejects only with an error that is no SvcError. */
export function runGateway(inputs: ProgramInputs, stopRequested: Promise<string>): Promise<number> {
  return runProgram({
    readSettings: () => readGatewaySettings(inputs),
    nameOf: () => 'gateway',
    serve: (settings, log) => {
      const sockets = listeningSockets(inputs.env, [process.pid, process.ppid]);
      return new RunningGateway(settings, log, sockets).run(stopRequested);
    },
  });
}
