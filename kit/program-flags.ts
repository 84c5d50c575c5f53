// ProgramFlags: the flags with which a program is started. Each flag is a short form of a setting (settings-reader.ts), and `--set`
// gives any setting by its dotted name.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { invalidSetting, readAssignments, SettingsReader } from './settings-reader.ts';
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

interface FlagOptions {
  readonly allowPositionals?: boolean;
  /** Flags that are no settings and may be repeated. */
  readonly lists?: readonly string[];
}

export interface ProgramFlags {
  /** Values of settings by their dotted names. */
  readonly given: ReadonlyMap<string, string>;
  /** Values of the flags that may be repeated, in their order. */
  readonly listed: ReadonlyMap<string, readonly string[]>;
  readonly positionals: readonly string[];
}

/**
 * Returns the settings that the arguments give, by their dotted names, and the arguments that are no flags. `command`: `run`, as in
 * `svc run`. Throws SVC_USAGE.
 */
export function readProgramFlags(
  command: string,
  args: readonly string[],
  flags: Readonly<Record<string, ProgramFlag>>,
  { allowPositionals = false, lists = [] }: FlagOptions = {},
): ProgramFlags {
  const { values, positionals } = parsed(command, args, flags, { allowPositionals, lists });
  const { set = [], ...found } = values;
  const given = readAssignments(set);
  const listed = new Map<string, readonly string[]>();
  for (const [flag, value] of Object.entries(found))
    if (Array.isArray(value)) listed.set(flag, value.map(String));
    else given.set(flags[flag]!.dotted, String(value));
  return { given, listed, positionals };
}

/** Name of the setting for the file in which a program says how far it is (state-file.ts). */
export const STATE_FILE = 'svc.state-file';

/**
 * Returns the absolute path of the state file, whatever the other settings are: it is to say that they are invalid.
 * Undefined: there is no such file. The other arguments are those of `readProgramFlags`.
 */
export function readStateFile(
  { args, env }: Pick<ProgramInputs, 'args' | 'env'>,
  command: string,
  flags: Readonly<Record<string, ProgramFlag>>,
  options: FlagOptions = {},
): string | undefined {
  try {
    const { given } = readProgramFlags(command, args, flags, options);
    return readPath(new SettingsReader(given, env), STATE_FILE);
  } catch {
    // The flags cannot be read, or the path is empty; the reader of all settings says so.
    return undefined;
  }
}

/** Returns the absolute path that a setting names; undefined: it is not given. */
export function readPath(reader: SettingsReader, dotted: string): string | undefined {
  const path = reader.text(dotted);
  return path === undefined ? undefined : resolve(path);
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
  { allowPositionals, lists }: Required<FlagOptions>,
) {
  const list = { type: 'string', multiple: true } as const;
  const repeated = Object.fromEntries(lists.map((flag) => [flag, list]));
  const options = { ...flags, ...repeated, set: list };
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
