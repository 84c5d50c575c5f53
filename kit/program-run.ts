// ProgramRun: one run of a program, from its settings to its exit code. Each failure with a code becomes a message, which is an entry of the
// log if programs read the log, and the end of the program in its state file, if it has one.
import type { LogFiles } from './log-files.ts';
import { LOG_FILES_DEFAULT, type LogFilesLimits } from './log-files-limits.ts';
import type { Log } from './log.ts';
import { openServiceLog } from './opened-log.ts';
import { EXIT_OK, reportFailure } from './program-failure.ts';
import { exitOf, openStatus, type ServiceStatus } from './service-status.ts';

export interface Program<Settings> {
  /** Throws an SvcError for settings that cannot be used. */
  readonly readSettings: () => Settings;
  /** Returns the name of the program in its log. */
  readonly nameOf: (settings: Settings) => string;
  /** Path of the state file; absent: there is none. */
  readonly stateFile?: string | undefined;
  /** Resolves once the program has stopped. Rejects with an SvcError if it cannot start, or cannot continue. */
  readonly serve: (settings: Settings, log: Log, status: ServiceStatus) => Promise<void>;
}

/** The log of a program. */
export interface LogChoice {
  readonly logFormat: 'text' | 'json';
  /** Folder of its log files; absent: the log goes to stderr. */
  readonly logFolder?: string | undefined;
  readonly logFiles?: LogFilesLimits;
}

/** Resolves with the exit code once the program has stopped or could not start. Rejects only with an error that is no SvcError. */
export async function runProgram<Settings extends LogChoice>({
  readSettings,
  nameOf,
  stateFile,
  serve,
}: Program<Settings>): Promise<number> {
  const status = openStatus(stateFile);
  status.enter('starting');
  let programLog: Log | undefined;
  let files: LogFiles | undefined;
  try {
    const settings = readSettings();
    const { logFormat, logFolder: folder, logFiles: limits = LOG_FILES_DEFAULT } = settings;
    const opened = openServiceLog(nameOf(settings), logFormat, { folder, limits });
    ({ files } = opened);
    // Programs read a log in JSON, and a log in files, so the reason for the end is one of its entries.
    if (logFormat === 'json' || files !== undefined) programLog = opened.log;
    await serve(settings, opened.log, status);
    status.end({ code: EXIT_OK, signal: null });
    return EXIT_OK;
  } catch (error) {
    status.end(exitOf(error));
    return reportFailure(error, programLog);
  } finally {
    await files?.close();
  }
}
