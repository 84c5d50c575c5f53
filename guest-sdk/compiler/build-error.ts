// BuildError: why a component could not be built. A Problem is one reason, with its place.

export interface Problem {
  /** Relative to the folder of the entry file; undefined when there is no place to name. */
  readonly file?: string;
  /** From 1. */
  readonly line?: number;
  /** From 1. */
  readonly column?: number;
  /** What is wrong, and what to do. */
  readonly message: string;
}

/** `file:line:column: message` */
export function problemText(problem: Problem): string {
  if (problem.file === undefined) return problem.message;
  const place = problem.line === undefined ? '' : `:${problem.line}:${problem.column ?? 1}`;
  return `${problem.file}${place}: ${problem.message}`;
}

export class BuildError extends Error {
  /** Documented beside the codes of the runtime, in docs/errors. */
  readonly code = 'SVC_BUILD_FAILED';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], options: { readonly cause?: unknown } = {}) {
    super(
      problems.map((problem) => problemText(problem)).join('\n'),
      options.cause === undefined ? {} : { cause: options.cause },
    );
    this.name = 'BuildError';
    this.problems = problems;
  }
}
