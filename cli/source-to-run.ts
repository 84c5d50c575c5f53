// SourceToRun: the module, the program or the process that a command was given, ready to fold events. A module is admitted with the
// settings of the command's --set, without those of the environment; a program is loaded in a thread of its own; a process runs
// already, or is started for the command and ended with it (source-process.ts).
import { constants } from 'node:os';
import type { GuestSource, SettingsToRun } from '@svc/host/tools';
import { CommandFailure } from './command.ts';
import type { OptionDescription, OptionDescriptions } from './description.ts';
import { SourceProcess } from './source-process.ts';
import { UsageError } from './usage-error.ts';

/** The code of a service, as the user gives it. */
export interface GivenSource {
  /** For `command`, the code is in a process that the command starts. */
  readonly kind: 'module' | 'program' | 'process' | 'command';
  /** The file, the address of the process, or the command. */
  readonly name: string;
}

export interface SourceToRun {
  readonly source: GuestSource;
  /** Settings for modules. Otherwise these are the defaults, which are not used. */
  readonly settings: SettingsToRun;
}

/** The words for the code in messages and in JSON. */
export const SOURCE_WORDS: Readonly<Record<GivenSource['kind'], 'module' | 'program' | 'process'>> =
  { module: 'module', program: 'program', process: 'process', command: 'process' };

/** The option `--program` of each command that takes a program instead of a module. */
export const PROGRAM_OPTION = {
  type: 'string',
  value: 'FILE.ts',
  help: `a program in the place of the module: the file that exports
its components; it is imported, so give one that you trust`,
  completes: { kind: 'file', ending: '.ts' },
} as const satisfies OptionDescription;

/** The options of each command that takes the code of a process instead of a module. */
export const PROCESS_OPTIONS = {
  process: {
    type: 'string',
    value: 'ADDRESS',
    help: `a process in the place of the module, which runs at this
address of this machine (127.0.0.1:9010)`,
  },
  'process-command': {
    type: 'string',
    value: 'COMMAND',
    help: `starts the process, without a shell, at a free port, and
ends it with the command ('python3 main.py')`,
  },
} as const satisfies OptionDescriptions;

/** The values of the options that name code. */
export interface SourceOptions {
  readonly module?: string | undefined;
  readonly program?: string | undefined;
  readonly process?: string | undefined;
  readonly 'process-command'?: string | undefined;
}

/** Returns the code that was given; undefined if none was. Throws UsageError if more than one was. */
export function givenSource(command: string, options: SourceOptions): GivenSource | undefined {
  const { module, program, process, 'process-command': processCommand } = options;
  const named = { module, program, process, command: processCommand };
  const given = Object.entries(named).flatMap(([kind, name]) =>
    name === undefined ? [] : [{ kind: kind as GivenSource['kind'], name }],
  );
  if (given.length > 1)
    throw new UsageError(
      `${command} takes one module, program or process, and found both: ${given.map(({ name }) => name).join(' and ')}.`,
    );
  return given[0];
}

/** Throws UsageError if settings are given, but no module: other code takes no settings. */
export function checkSettings(
  command: string,
  settings: readonly string[],
  ...sources: readonly (GivenSource | undefined)[]
): void {
  if (settings.length === 0 || sources.some((source) => source?.kind === 'module')) return;
  throw new UsageError(
    `${command} takes --set for a module: a program or a process runs here without settings.`,
  );
}

type Tools = typeof import('@svc/host/tools');

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Makes the sources of a command, calls `use` with them, and then ends the processes that were started for it, also when `use`
 * rejects or a signal ends the command. Rejects as `use` does, with UsageError for a setting or an address that cannot be, and with errors
 * with a code that name what was given.
 */
export async function withSources<const Given extends readonly (GivenSource | undefined)[], Result>(
  tools: Tools,
  given: Given,
  settings: readonly string[],
  use: (sources: { [Index in keyof Given]: SourceOf<Given[Index]> }) => Promise<Result>,
): Promise<Result> {
  const processes: SourceProcess[] = [];
  const endAll = () => Promise.all(processes.map((process) => process.end()));
  const onSignal = (signal: NodeJS.Signals): void =>
    void endAll().then(() => process.exit(128 + constants.signals[signal]));
  const signals = given.some((one) => one?.kind === 'command') ? SIGNALS : [];
  for (const signal of signals) process.on(signal, onSignal);
  try {
    const sources: (SourceToRun | undefined)[] = [];
    for (const one of given)
      sources.push(one && (await sourceToRun(tools, one, settings, processes)));
    return await use(sources as Parameters<typeof use>[0]);
  } finally {
    await endAll();
    for (const signal of signals) process.off(signal, onSignal);
  }
}

type SourceOf<Given> = Given extends GivenSource ? SourceToRun : undefined;

/** `processes`: receives the process that is started, if one is. */
async function sourceToRun(
  tools: Tools,
  { kind, name }: GivenSource,
  settings: readonly string[],
  processes: SourceProcess[],
): Promise<SourceToRun> {
  switch (kind) {
    case 'module':
      return admitted(tools, name, settings);
    case 'program':
      return unlimited(tools, tools.readProgram(name));
    case 'process':
      if (!tools.isProcessAddress(name))
        throw new UsageError(
          `a process has ${tools.PROCESS_ADDRESS_WORDS}, and the address found is '${name}'.`,
        );
      return unlimited(tools, await tools.readProcessAt(name));
    case 'command': {
      const process = await SourceProcess.start(tools, name);
      processes.push(process);
      return unlimited(tools, await process.source());
    }
  }
}

function unlimited(tools: Tools, source: GuestSource): SourceToRun {
  return {
    source,
    settings: { wasm: tools.WASM_LIMITS_DEFAULT, views: tools.VIEW_LIMITS_DEFAULT },
  };
}

async function admitted(
  { SvcError, admitFileToRun }: Tools,
  file: string,
  settings: readonly string[],
): Promise<SourceToRun> {
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
