// Command: one word of the command line, and how it ends. Data goes to stdout, all else to stderr.

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
  /** What `svc NAME --help` prints. */
  readonly help: string;
  run(args: readonly string[]): Promise<ExitCode>;
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

/** The words of the command line make no sense: the message says which, and what was expected. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}
