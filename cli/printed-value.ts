// PrintedValue: times and JSON of a journal, as commands print them.
import { printableJson } from '@svc/kit/printable';

/** Returns the time in ISO 8601; undefined if there is no time or it is outside of the valid range. */
export function timeText(timeMs: number | undefined): string | undefined {
  if (timeMs === undefined) return undefined;
  const date = new Date(timeMs);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
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
