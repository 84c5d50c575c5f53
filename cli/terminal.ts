// The two streams of the command line. Colour is for a terminal only, and each stream is asked for
// itself; NO_COLOR, FORCE_COLOR and TERM=dumb are heeded by node's styleText.
import { once } from 'node:events';
import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** The text as standard error takes it. */
export function errorStyle(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stderr });
}

/** The text as standard output takes it. */
export function outputStyle(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout });
}

/** Resolves when more may be written; false when nobody reads any more (`svc journal … | head`). */
export async function printData(text: string): Promise<boolean> {
  const { stdout } = process;
  if (stdout.destroyed || stdout.errored !== null) return false;
  if (stdout.write(text)) return true;
  const gone = new AbortController();
  try {
    await Promise.race([
      once(stdout, 'drain', { signal: gone.signal }),
      once(stdout, 'close', { signal: gone.signal }),
    ]);
  } catch {
    return false;
  } finally {
    gone.abort();
  }
  return !stdout.destroyed;
}
