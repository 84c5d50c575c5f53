// TimeWord: a time as the user writes it on the command line: a date, with or without a time of day, or a duration
// before now.
import { UsageError } from './usage-error.ts';

const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/;
const DURATION = /^(\d{1,6})([smh])$/;
const AGO = /^(\d{1,9})([smhd])$/;
const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Returns a time in milliseconds since 1970. A time without a zone is in UTC, like every time that svc prints. Throws
 * UsageError; the message names the command, its argument, and, as `what`, the kind of value that was expected.
 */
export function readTime(command: string, argument: string, text: string, what = 'a time'): number {
  const ago = AGO.exec(text);
  if (ago !== null) return Date.now() - Number(ago[1]) * UNIT_MS[ago[2] as keyof typeof UNIT_MS];
  const date = DATE.exec(text);
  const timeMs =
    date === null
      ? Number.NaN
      : Date.parse(text.includes('T') && date[1] === undefined ? `${text}Z` : text);
  if (!Number.isNaN(timeMs) && (date === null || isInCalendar(text))) return timeMs;
  throw new UsageError(
    `${command} takes ${what} as ${argument}, such as '2030-01-02T03:04:05Z', '2030-01-02', or '15m' for ` +
      `a quarter of an hour ago, and found '${text}'.`,
  );
}

/**
 * Returns a duration in milliseconds, such as that of `90s`, `10m` or `1h`. Throws UsageError; the message names the command and
 * its argument.
 */
export function readDuration(command: string, argument: string, text: string): number {
  const found = DURATION.exec(text);
  if (found !== null) return Number(found[1]) * UNIT_MS[found[2] as keyof typeof UNIT_MS];
  throw new UsageError(
    `${command} takes a duration such as 90s, 10m or 1h as ${argument}, and found '${text}'.`,
  );
}

/** Returns whether the day exists. JavaScript reads 31 February as a day of March. */
function isInCalendar(text: string): boolean {
  const day = text.slice(0, 'yyyy-mm-dd'.length);
  const at = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day);
}
