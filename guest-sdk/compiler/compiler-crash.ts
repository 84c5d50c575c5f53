// CompilerCrash: AssemblyScript's compiler gave up on a program by an error of its own. It prints that
// and ends the process; here it ends the build.

import console from 'node:console';

export class CompilerCrash extends Error {}

/** Runs the compiler so that an exit of its own becomes a CompilerCrash. In a thread of its own only. */
export async function withoutExit<T>(compile: () => Promise<T>): Promise<T> {
  const exit = process.exit.bind(process);
  const error = console.error.bind(console);
  let said = '';
  console.error = (...words: unknown[]): void => {
    said += words.map(String).join(' ');
  };
  process.exit = () => {
    throw new CompilerCrash(reasonOf(said));
  };
  try {
    return await compile();
  } finally {
    process.exit = exit;
    console.error = error;
  }
}

/** Takes from the compiler's report, which has a banner and a stack, the phase of the crash and the line of the error. */
function reasonOf(report: string): string {
  const phase = /crashed during\s+(.*?)\s+:-\(/.exec(report)?.[1];
  const error = /^\W*((?:\w*Error|abort|unreachable).*)$/m.exec(report)?.[1];
  return [phase === undefined ? '' : `in its step '${phase}'`, error ?? '']
    .filter((part) => part !== '')
    .join(': ');
}
