// PrintedValue: times, authors and JSON of a journal, as commands print them.
import { authorOf } from '@svc/contract/author';
import { printable, printableJson } from '@svc/kit/printable';
import { shellWord } from './shell-word.ts';
import { outputStyle } from './terminal.ts';

/** Returns the time in ISO 8601; undefined if there is no time or it is outside of the valid range. */
export function timeText(timeMs: number | undefined): string | undefined {
  if (timeMs === undefined) return undefined;
  const date = new Date(timeMs);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/**
 * Returns the subject of a record's author, with a word before it and escaped for the terminal. A subject with blanks or signs is in
 * quotation marks, so that it cannot look like another part of its line. Returns an empty text if there is no author.
 */
export function authorWords(by: string | undefined): string {
  const author = authorOf(by);
  return author === undefined
    ? ''
    : outputStyle('cyan', `  by ${shellWord(printable(author.subject))}`);
}

/** Returns the JSON text of a value on one line, escaped for the terminal. */
export function jsonLine(value: unknown): string {
  return printableJson(JSON.stringify(value));
}

/**
 * Returns JSON text of a module on one line, escaped for the terminal. The values stay as they are, because parsing
 * could change their numbers. Text that is not JSON becomes a string.
 */
export function storedJson(json: string): string {
  try {
    JSON.parse(json);
  } catch {
    return jsonLine(json);
  }
  // Line breaks occur only as white space between tokens.
  return printableJson(json.replaceAll(/[\t\n\r]/g, ' '));
}
