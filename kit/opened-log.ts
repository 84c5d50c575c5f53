// OpenedLog is the log of a service where it has to go: to stderr, or to files of its own.
import { createLog, type Log } from './log.ts';
import { LogFiles } from './log-files.ts';
import type { LogFilesLimits } from './log-files-limits.ts';
import { printable } from './printable.ts';

export interface OpenedLog {
  readonly log: Log;
  /** Undefined: the log goes to stderr. */
  readonly files: LogFiles | undefined;
}

/** `folder`: that of the log files; undefined: the log goes to stderr. */
export function openServiceLog(
  service: string,
  format: 'text' | 'json',
  { folder, limits }: { readonly folder: string | undefined; readonly limits: LogFilesLimits },
): OpenedLog {
  if (folder === undefined) return { log: createLog(service, format), files: undefined };
  const files = new LogFiles(folder, {
    limits,
    onFailure: (error) => {
      const reason = printable(error instanceof Error ? error.message : String(error));
      process.stderr.write(`svc: the log files in ${folder} cannot be written: ${reason}\n`);
    },
    onDropped: (lines) =>
      log({
        level: 'warn',
        message: 'the log files could not be written, and lines are missing',
        fields: { lines },
      }),
  });
  const log = createLog(service, format, { write: (line) => files.write(line) });
  return { log, files };
}
