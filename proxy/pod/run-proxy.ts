// RunProxy runs the proxy of this process: it reads the settings, forwards (running-proxy.ts) until it is stopped, and turns a
// failure into a message and an exit code.
import { createLog, type Log } from '@svc/kit/log';
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';
import { type ProxyInputs, readProxySettings } from './proxy-settings.ts';
import { RunningProxy } from './running-proxy.ts';

const EXIT_OK = 0;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** Resolves with the exit code once the proxy has stopped or could not start. Rejects only with an error that is no SvcError. */
export async function runProxy(
  inputs: ProxyInputs,
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
    if (!(error instanceof SvcError)) throw error;
    const { code, message } = error;
    if (jsonLog === undefined) process.stderr.write(`svc: ${printable(message)} [${code}]\n`);
    else jsonLog({ level: 'error', message, fields: { code } });
    return code === 'SVC_USAGE' ? EXIT_USAGE : EXIT_FAILED;
  }
}
