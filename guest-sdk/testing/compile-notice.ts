// CompileNotice: one line on stderr when compiling a component takes a while, so that nobody takes a test that waits for
// its component for one that hangs.
import { relative } from 'node:path';

/** A build that is done before, in milliseconds, is not worth a line. */
const NOTICE_AFTER_MS = 1_000;

/** What `compile` comes to. */
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
