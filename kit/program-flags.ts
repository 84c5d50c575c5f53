// ProgramFlags: the flags with which a program is started. Each flag is a short form of a setting (settings-reader.ts), and `--set`
// gives any setting by its dotted name.
import { parseArgs } from 'node:util';
import { invalidSetting, readAssignments, type SettingsReader } from './settings-reader.ts';
import { SvcError } from './svc-error.ts';

/** Arguments and environment of the process of a program. */
export interface ProgramInputs {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stderrIsTerminal: boolean;
}

export interface ProgramFlag {
  readonly type: 'string' | 'boolean';
  /** Dotted name of its setting. */
  readonly dotted: string;
}

/**
 * Returns the settings that the arguments give, by their dotted names, and the arguments that are no flags. `command`: `run`, as in
 * `svc run`. Throws SVC_USAGE.
 */
export function readProgramFlags(
  command: string,
  args: readonly string[],
  flags: Readonly<Record<string, ProgramFlag>>,
  { allowPositionals = false }: { readonly allowPositionals?: boolean } = {},
): { readonly given: ReadonlyMap<string, string>; readonly positionals: readonly string[] } {
  const { values, positionals } = parsed(command, args, flags, allowPositionals);
  const { set = [], ...found } = values;
  const given = readAssignments(set);
  for (const [flag, value] of Object.entries(found)) given.set(flags[flag]!.dotted, String(value));
  return { given, positionals };
}

/** Reads `svc.log`, the form of the log. `isForPerson`: a person reads stderr, unless the setting says otherwise. */
export function readLogFormat(reader: SettingsReader, isForPerson: boolean): 'text' | 'json' {
  const format = reader.text('svc.log') ?? (isForPerson ? 'text' : 'json');
  if (format !== 'text' && format !== 'json')
    throw invalidSetting('svc.log', format, "'text' or 'json'");
  return format;
}

function parsed(
  command: string,
  args: readonly string[],
  flags: Readonly<Record<string, ProgramFlag>>,
  allowPositionals: boolean,
) {
  const options = { ...flags, set: { type: 'string', multiple: true } } as const;
  try {
    return parseArgs({ args: [...args], options, allowPositionals });
  } catch (error) {
    throw new SvcError(
      'SVC_USAGE',
      // The rest of Node's message is about arguments that begin with a hyphen.
      `${(error as Error).message.split(/\.\s/)[0]}. svc ${command} --help lists the options.`,
      { cause: error },
    );
  }
}
