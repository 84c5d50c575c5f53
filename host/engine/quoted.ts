// Quoted: text of a module or a caller, made safe for a message that ends in a log or on a terminal.
import { printable } from '@svc/kit/printable';

const SHOWN_MAX = 200;

/** Returns the first 200 UTF-16 units of a text in single quotes, on one line and without harmful characters. */
export function quoted(text: string): string {
  return `'${printable(text.slice(0, SHOWN_MAX))}${text.length > SHOWN_MAX ? '…' : ''}'`;
}
