// Command: one word of the command line: what it takes, described once, and what it does. Help,
// parsing, suggestions and completion are all made from the description. Data goes to stdout, all
// else to stderr.
import { readArguments } from './arguments.ts';
import type { CommandDescription, OptionDescriptions, OptionValues } from './description.ts';

/** Documented in docs/reference/cli.md. */
export const EXIT_CODE = {
  ok: 0,
  /** Refused or failed: the message on stderr says why, with a documented code. */
  failed: 1,
  /** The words of the command line make no sense. */
  usage: 2,
} as const;
export type ExitCode = (typeof EXIT_CODE)[keyof typeof EXIT_CODE];

export interface Command {
  readonly description: CommandDescription;
  /** `args`: what follows the command's name. Throws UsageError, and errors with a code. */
  run(args: readonly string[]): Promise<ExitCode>;
}

/** A command that is given its words and options, read as its description says. */
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

/** Refused or failed, with a code of docs/errors. */
export class CommandFailure extends Error {
  readonly code: `SVC_${string}`;

  /** `message`: one sentence of what happened and where, and one of what to do. */
  constructor(code: `SVC_${string}`, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = 'CommandFailure';
    this.code = code;
  }
}
