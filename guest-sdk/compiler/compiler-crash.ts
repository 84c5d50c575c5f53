// CompilerCrash: AssemblyScript's compiler failed with an error of its own. It would print the error and end the
// process; here the error ends only the build.

import console from 'node:console';

export class CompilerCrash extends Error {}

/** Runs the compiler so that its exit becomes a CompilerCrash. Only for a thread that runs nothing else. */
export async function withoutExit<T>(compile: () => Promise<T>): Promise<T> {
  const exit = process.exit.bind(process);
  const error = console.error.bind(console);
  let output = '';
  console.error = (...words: unknown[]): void => {
    output += words.map(String).join(' ');
  };
  process.exit = () => {
    throw new CompilerCrash(reasonOf(output));
  };
  try {
    return await compile();
  } finally {
    process.exit = exit;
    console.error = error;
  }
}

/**
 * Returns the phase of the crash and the line with the error, from the compiler's report, which has a banner and a
 * stack.
 */
function reasonOf(report: string): string {
  const phase = /crashed during\s+(.*?)\s+:-\(/.exec(report)?.[1];
  const error = /^\W*((?:\w*Error|abort|unreachable).*)$/m.exec(report)?.[1];
  return [phase === undefined ? '' : `in its step '${phase}'`, error ?? '']
    .filter((part) => part !== '')
    .join(': ');
}
