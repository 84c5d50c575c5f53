// The forms of text that stand for something else: dates with time as RFC 3339 and bytes as base64, as every
// hosting reads and writes them.

const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
const BASE64 =
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/;
/** Four digits of a year reach no further. */
const FIRST_MS = -62_167_219_200_000;
const LAST_MS = 253_402_300_799_999;

/** In UTC with milliseconds; undefined when the text is none. */
export function dateTimeOf(text: string): string | undefined {
  const parts = DATE_TIME.exec(text);
  if (parts === null) return undefined;
  const [, year, month, day] = parts.map(Number) as [number, number, number, number];
  if (month < 1 || month > 12 || day < 1 || day > daysOfMonth(year, month)) return undefined;
  const ms = Date.parse(text);
  return ms >= FIRST_MS && ms <= LAST_MS ? new Date(ms).toISOString() : undefined;
}

function daysOfMonth(year: number, month: number): number {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31;
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
}

/** With padding, one text for each sequence of bytes (RFC 4648, section 4). */
export function isBase64(text: string): boolean {
  return BASE64.test(text);
}
