// Command: a command of the command line, with a description of its arguments and the function that runs it. Help,
// parsing, suggestions and completion all use the description. Data goes to stdout, everything else to stderr.
import { readArguments } from './arguments.ts';
import type { CommandDescription, OptionDescriptions, OptionValues } from './description.ts';

/** Exit codes, documented in docs/reference/cli.md. */
export const EXIT_CODE = {
  ok: 0,
  /**
   * The command was refused or failed. The message on stderr gives the reason and a documented code, with two
   * exceptions: `svc inspect` prints both on stdout for a refused module, and a bug of svc has no code.
   */
  failed: 1,
  /** The arguments are invalid. */
  usage: 2,
  /** No usable login for the installation; `svc login` gets one. */
  notLoggedIn: 3,
  /** The deployment has begun, and continues without the command. */
  stillDeploying: 4,
} as const;
export type ExitCode = (typeof EXIT_CODE)[keyof typeof EXIT_CODE];

export interface Command {
  readonly description: CommandDescription;
  /** Runs the command. `args`: the arguments after the command's name. Throws UsageError, and errors with a code. */
  run(args: readonly string[]): Promise<ExitCode>;
}

/** Creates a command whose arguments and options are parsed according to its description. */
export function command<const O extends OptionDescriptions>(
  description: CommandDescription<O>,
  run: (words: readonly string[], options: OptionValues<O>) => Promise<ExitCode>,
): Command {
  return {
    description,
    run(args) {
      const { words, options } = readArguments(description, args);
      return run(words, options);
    },
  };
}

/** The failure of a command, with an error code that has a page in docs/errors. */
export class CommandFailure extends Error {
  readonly code: `SVC_${string}`;

  /** `message`: one sentence about what happened and where, and one about what to do. */
  constructor(code: `SVC_${string}`, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = 'CommandFailure';
    this.code = code;
  }
}
