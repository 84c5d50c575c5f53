// Text of a module or a caller, made fit for a message that ends in a log or on a terminal.
import { printable } from '@svc/kit/printable';

const SHOWN_MAX = 200;

/** In single quotes, on one line, nothing harmful in it, at most 200 UTF-16 units of the text. */
export function quoted(text: string): string {
  return `'${printable(text.slice(0, SHOWN_MAX))}${text.length > SHOWN_MAX ? '…' : ''}'`;
}
