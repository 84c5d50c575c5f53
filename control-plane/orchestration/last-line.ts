// LastLine: what the output of a program that has ended says best of why.
import { LastWords } from '@svc/kit/last-words';
import { printable } from '@svc/kit/printable';

/** Returns the line, that of an entry of a log its code and message, with `charactersMax` at most; undefined: there is none. */
export function lastLineIn(output: string, charactersMax: number): string | undefined {
  const words = new LastWords();
  for (const line of output.split('\n')) words.take(line);
  if (words.line === undefined) return undefined;
  return printable(entryIn(words.line) ?? words.line).slice(0, charactersMax);
}

function entryIn(line: string): string | undefined {
  try {
    const { code, message } = Object(JSON.parse(line)) as {
      readonly code?: unknown;
      readonly message?: unknown;
    };
    if (typeof message !== 'string') return undefined;
    return typeof code === 'string' ? `${code}: ${message}` : message;
  } catch {
    return undefined;
  }
}
