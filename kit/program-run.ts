// ProgramRun: one run of a program, from its settings to its exit code. Each failure with a code becomes a message, which is an entry of the
// log if programs read the log.
import { createLog, type Log } from './log.ts';
import { EXIT_OK, reportFailure } from './program-failure.ts';

export interface Program<Settings> {
  /** Throws an SvcError for settings that cannot be used. */
  readonly readSettings: () => Settings;
  /** Returns the name of the program in its log. */
  readonly nameOf: (settings: Settings) => string;
  /** Resolves once the program has stopped. Rejects with an SvcError if it cannot start, or cannot continue. */
  readonly serve: (settings: Settings, log: Log) => Promise<void>;
}

/** Resolves with the exit code once the program has stopped or could not start. Rejects only with an error that is no SvcError. */
export async function runProgram<Settings extends { readonly logFormat: 'text' | 'json' }>({
  readSettings,
  nameOf,
  serve,
}: Program<Settings>): Promise<number> {
  let jsonLog: Log | undefined;
  try {
    const settings = readSettings();
    const log = createLog(nameOf(settings), settings.logFormat);
    // Programs read a log in JSON, so the reason for the end is one of its entries.
    if (settings.logFormat === 'json') jsonLog = log;
    await serve(settings, log);
    return EXIT_OK;
  } catch (error) {
    return reportFailure(error, jsonLog);
  }
}
