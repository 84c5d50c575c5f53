// ProgramFailure: how a program reports why it has ended: a line of its log if programs read the log, otherwise a sentence.
import type { Log } from './log.ts';
import { printable } from './printable.ts';
import { SvcError } from './svc-error.ts';

export const EXIT_OK = 0;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** Reports the error and returns the exit code. `jsonLog`: a log in JSON. Throws an error that is no SvcError. */
export function reportFailure(error: unknown, jsonLog: Log | undefined): number {
  if (!(error instanceof SvcError)) throw error;
  const { code, message } = error;
  if (jsonLog === undefined) process.stderr.write(`svc: ${printable(message)} [${code}]\n`);
  else jsonLog({ level: 'error', message, fields: { code } });
  return exitCodeOf(error);
}

export function exitCodeOf({ code }: SvcError): number {
  return code === 'SVC_USAGE' ? EXIT_USAGE : EXIT_FAILED;
}
