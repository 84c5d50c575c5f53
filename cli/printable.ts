// Text from outside (a module, a journal, a path) made fit for a terminal, where it has several lines.
import { printable } from '@svc/kit/printable';

/** Each line without harmful characters. */
export function printableLines(text: string): string {
  return text
    .split('\n')
    .map((line) => printable(line))
    .join('\n');
}
