// RunProxy runs the proxy of this process: it reads the settings, forwards (running-proxy.ts) until it is stopped, and turns a
// failure into a message and an exit code.
import { listeningSockets } from '@svc/kit/listening-sockets';
import type { ProgramInputs } from '@svc/kit/program-flags';
import { runProgram } from '@svc/kit/program-run';
import { proxyStateFile, readProxySettings } from './proxy-settings.ts';
import { RunningProxy } from './running-proxy.ts';

/** Resolves with the exit code once the proxy has stopped or could not start. Rejects only with an error that is no SvcError. */
export function runProxy(inputs: ProgramInputs, stopRequested: Promise<string>): Promise<number> {
  return runProgram({
    readSettings: () => readProxySettings(inputs),
    nameOf: ({ service }) => service,
    stateFile: proxyStateFile(inputs),
    serve: (settings, log, status) => {
      const sockets = listeningSockets(inputs.env, [process.pid, process.ppid]);
      return new RunningProxy(settings, { log, status, sockets }).run(stopRequested);
    },
  });
}
