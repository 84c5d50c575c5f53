// Terminal: the output streams of the command line. A stream is coloured if it is a terminal itself, unless NO_COLOR,
// FORCE_COLOR or TERM=dumb, which Node's styleText respects, say otherwise.
import { once } from 'node:events';
import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Styles a text for standard error. */
export function errorStyle(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stderr });
}

/** Styles a text for standard output. */
export function outputStyle(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout });
}

/**
 * Writes data. Resolves with true when more may be written, and with false when the reader has closed the stream
 * (`svc journal … | head`) or writing has failed.
 */
export async function printData(text: string): Promise<boolean> {
  const { stdout } = process;
  if (stdout.destroyed || stdout.errored !== null) return false;
  if (stdout.write(text)) return true;
  const settled = new AbortController();
  try {
    await Promise.race([
      once(stdout, 'drain', { signal: settled.signal }),
      once(stdout, 'close', { signal: settled.signal }),
    ]);
  } catch {
    return false;
  } finally {
    // The listener of the event that did not occur is removed.
    settled.abort();
  }
  return !stdout.destroyed;
}
