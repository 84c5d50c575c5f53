// CompileNotice: one line on stderr when a build takes a while, so that nobody thinks that the test hangs.
import { relative } from 'node:path';

/** Time after which the line is printed, in milliseconds. */
const NOTICE_AFTER_MS = 1_000;

/** Returns the result of `compile`; prints the line if it takes longer than `NOTICE_AFTER_MS`. */
export async function withNotice<T>(file: string, compile: () => Promise<T>): Promise<T> {
  const beside = relative('', file);
  const shown = beside.startsWith('..') ? file : beside;
  const timer = setTimeout(() => {
    process.stderr.write(`svc: compiling ${shown}; tests wait for it …\n`);
  }, NOTICE_AFTER_MS);
  try {
    return await compile();
  } finally {
    clearTimeout(timer);
  }
}
