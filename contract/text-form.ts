// The text formats: dates with time as RFC 3339, exact decimals, durations as ISO 8601 and bytes as base64,
// as every hosting reads and writes them.

const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
const BASE64 =
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/;
const DECIMAL = /^(?!-0(\.0+)?$)-?(0|[1-9]\d*)(\.\d+)?$/;
const DECIMAL_DIGITS_MAX = 100;
const DURATION =
  /^(-?)P(?=.)(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,3}))?S)?)?$/;
/** Maximum length of a duration's text, in UTF-16 units: a longer text has needless zeros, or is too long a time. */
const DURATION_UNITS_MAX = 100;
/** Longest duration, in milliseconds: 100 million days. */
const DURATION_MS_MAX = 8_640_000_000_000_000n;
/** Earliest time, in milliseconds: the beginning of year 0, the first of four digits. */
const FIRST_MS = -62_167_219_200_000;
/** Latest time of a date or a timer, in milliseconds since 1970: the end of year 9999 in UTC. */
export const TIME_MS_MAX = 253_402_300_799_999;

/** Normalises a date with time to UTC with milliseconds; returns undefined if the text is not a date with time. */
export function dateTimeOf(text: string): string | undefined {
  const parts = DATE_TIME.exec(text);
  if (parts === null) return undefined;
  const [, year, month, day] = parts.map(Number) as [number, number, number, number];
  if (month < 1 || month > 12 || day < 1 || day > daysOfMonth(year, month)) return undefined;
  const ms = Date.parse(text);
  return ms >= FIRST_MS && ms <= TIME_MS_MAX ? new Date(ms).toISOString() : undefined;
}

function daysOfMonth(year: number, month: number): number {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31;
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
}

/** Returns whether the text is base64 with padding, in its one form for the bytes (RFC 4648, section 4). */
export function isBase64(text: string): boolean {
  return BASE64.test(text);
}

/**
 * Returns whether the text is a decimal of at most 100 digits. An exponent, a plus sign, leading zeros and a negative
 * zero are not allowed.
 */
export function isDecimal(text: string): boolean {
  if (text.length > DECIMAL_DIGITS_MAX + 2 || !DECIMAL.test(text)) return false;
  return text.replaceAll(/[-.]/g, '').length <= DECIMAL_DIGITS_MAX;
}

/**
 * Normalises a duration to days, hours, minutes and seconds; returns undefined if the text is not a duration, or is a
 * negative zero or longer than 100 million days.
 */
export function durationOf(text: string): string | undefined {
  const ms = durationMsOf(text);
  if (ms === undefined) return undefined;
  return ms < 0 ? `-${durationText(BigInt(-ms))}` : durationText(BigInt(ms));
}

/** Returns the milliseconds of a duration; undefined for a text that `durationOf` refuses. */
export function durationMsOf(text: string): number | undefined {
  const parts = text.length > DURATION_UNITS_MAX ? null : DURATION.exec(text);
  if (parts === null) return undefined;
  const [, sign, days, hours, minutes, seconds, fraction = ''] = parts;
  const [d, h, m, s] = [days, hours, minutes, seconds].map((count) => BigInt(count ?? 0));
  const ms = (((d! * 24n + h!) * 60n + m!) * 60n + s!) * 1000n + BigInt(fraction.padEnd(3, '0'));
  if (ms > DURATION_MS_MAX || (sign === '-' && ms === 0n)) return undefined;
  return sign === '-' ? -Number(ms) : Number(ms);
}

function part(count: bigint, unit: string): string {
  return count === 0n ? '' : `${count}${unit}`;
}

function durationText(ms: bigint): string {
  if (ms === 0n) return 'PT0S';
  const fraction = (ms % 1000n).toString().padStart(3, '0').replace(/0+$/, '');
  const seconds = (ms / 1000n) % 60n;
  const time =
    part((ms / 3_600_000n) % 24n, 'H') +
    part((ms / 60_000n) % 60n, 'M') +
    (fraction === '' ? part(seconds, 'S') : `${seconds}.${fraction}S`);
  return `P${part(ms / 86_400_000n, 'D')}${time === '' ? '' : `T${time}`}`;
}
