// SourceToRun: the module or the program that a command was given, ready to fold events. A module is admitted with the
// settings of the command's --set, without those of the environment; a program is loaded in a thread of its own.
import type { GuestSource, HostingSettings } from '@svc/host/tools';
import { CommandFailure } from './command.ts';
import type { OptionDescription } from './description.ts';
import { UsageError } from './usage-error.ts';

/** The file of a module or of a program, as the user gives it. */
export interface GivenSource {
  readonly kind: 'module' | 'program';
  readonly file: string;
}

export interface SourceToRun {
  readonly source: GuestSource;
  /** Settings for modules. For a program these are the defaults, which the program does not use. */
  readonly settings: HostingSettings;
}

/** The option `--program` of each command that takes a program instead of a module. */
export const PROGRAM_OPTION = {
  type: 'string',
  value: 'FILE.ts',
  help: `a program in the place of the module: the file that exports its
components; it is imported, so give one that you trust`,
  completes: { kind: 'file', ending: '.ts' },
} as const satisfies OptionDescription;

/** Returns the file that was given; undefined if none was. Throws UsageError if both a module and a program were. */
export function givenSource(
  command: string,
  module: string | undefined,
  program: string | undefined,
): GivenSource | undefined {
  if (module !== undefined && program !== undefined)
    throw new UsageError(
      `${command} takes a module or a program, and found both: ${module} and ${program}.`,
    );
  if (program !== undefined) return { kind: 'program', file: program };
  return module === undefined ? undefined : { kind: 'module', file: module };
}

/** Throws UsageError if settings are given, but no module: a program takes no settings. */
export function checkSettings(
  command: string,
  settings: readonly string[],
  ...sources: readonly (GivenSource | undefined)[]
): void {
  if (settings.length === 0 || sources.some((source) => source?.kind === 'module')) return;
  throw new UsageError(
    `${command} takes --set for a module: a program runs here without settings.`,
  );
}

/**
 * Admits a module or loads a program. Throws UsageError for a setting that does not exist, and errors with a code that
 * name the file.
 */
export async function sourceToRun(
  tools: typeof import('@svc/host/tools'),
  { kind, file }: GivenSource,
  settings: readonly string[],
): Promise<SourceToRun> {
  if (kind === 'program')
    return { source: tools.readProgram(file), settings: { wasm: tools.WASM_LIMITS_DEFAULT } };
  const { SvcError, admitFileToRun } = tools;
  try {
    return await admitFileToRun(file, settings, {});
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    const { code, message } = error;
    if (code === 'SVC_USAGE') throw new UsageError(message);
    // A command may take two files, so the message has to name the file that is refused.
    if (message.includes(file)) throw error;
    throw new CommandFailure(code, `${file}: ${message}`, { cause: error });
  }
}
