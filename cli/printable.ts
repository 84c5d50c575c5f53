// Printable: escapes untrusted text of several lines (from a module, a journal, a path) for a terminal.
import { printable } from '@svc/kit/printable';

/** Escapes the harmful characters of each line. */
export function printableLines(text: string): string {
  return text
    .split('\n')
    .map((line) => printable(line))
    .join('\n');
}
