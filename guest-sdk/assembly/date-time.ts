// Dates as RFC 3339 text such as `2026-02-28T12:30:00.000Z`; read strictly, and written in UTC.
import { shortened } from "./json-cursor";
import { JsonReader } from "./json-reader";
import { JsonWriter } from "./json-writer";

const WORDS = "a date and time like 2026-02-28T12:30:00.000Z";
const MINUTE_MS: i64 = 60_000;
/** Milliseconds of 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z, the range of years with four digits. */
const FIRST_MS: i64 = -62_167_219_200_000;
const LAST_MS: i64 = 253_402_300_799_999;

export function readDate(reader: JsonReader): Date {
  const text = reader.readString();
  if (reader.failed) return changetype<Date>(0);
  const ms = epochMs(text);
  if (ms == i64.MIN_VALUE) {
    reader.fail("must be " + WORDS + ", found \"" + shortened(text) + "\"");
    return changetype<Date>(0);
  }
  return new Date(ms);
}

export function writeDate(writer: JsonWriter, date: Date): void {
  const ms = date.getTime();
  if (ms < FIRST_MS || ms > LAST_MS)
    throw new Error("a date outside of the years 0 to 9999 cannot be written as JSON");
  writer.string(date.toISOString());
}

/** Returns milliseconds since 1970, without smaller fractions; i64.MIN_VALUE when the text is not a date. */
export function epochMs(text: string): i64 {
  const length = text.length;
  if (length < 20) return i64.MIN_VALUE;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 2);
  const day = digits(text, 8, 2);
  const hour = digits(text, 11, 2);
  const minute = digits(text, 14, 2);
  const second = digits(text, 17, 2);
  const marks =
    text.charCodeAt(4) == 0x2d &&
    text.charCodeAt(7) == 0x2d &&
    text.charCodeAt(10) == 0x54 &&
    text.charCodeAt(13) == 0x3a &&
    text.charCodeAt(16) == 0x3a;
  if (!marks || (year | month | day | hour | minute | second) < 0) return i64.MIN_VALUE;
  if (month < 1 || month > 12 || day < 1 || day > daysOfMonth(year, month)) return i64.MIN_VALUE;
  if (hour > 23 || minute > 59 || second > 59) return i64.MIN_VALUE;
  let at = 19;
  let fraction = 0;
  if (text.charCodeAt(at) == 0x2e) {
    let unit = 100;
    const first = ++at;
    for (; at < length; ++at) {
      const digit = text.charCodeAt(at) - 0x30;
      if (digit < 0 || digit > 9) break;
      fraction += digit * unit;
      unit /= 10;
    }
    if (at == first) return i64.MIN_VALUE;
  }
  let offset = 0;
  const zone = at < length ? text.charCodeAt(at) : 0;
  if (zone == 0x5a) {
    if (at + 1 != length) return i64.MIN_VALUE;
  } else {
    if ((zone != 0x2b && zone != 0x2d) || at + 6 != length) return i64.MIN_VALUE;
    const hours = digits(text, at + 1, 2);
    const minutes = digits(text, at + 4, 2);
    if (text.charCodeAt(at + 3) != 0x3a || (hours | minutes) < 0 || hours > 23 || minutes > 59)
      return i64.MIN_VALUE;
    offset = hours * 60 + minutes;
    if (zone == 0x2d) offset = -offset;
  }
  const minutes = (<i64>daysBefore(year, month, day) * 24 + hour) * 60 + minute - offset;
  const ms = minutes * MINUTE_MS + second * 1000 + fraction;
  return ms >= FIRST_MS && ms <= LAST_MS ? ms : i64.MIN_VALUE;
}

function digits(text: string, from: i32, count: i32): i32 {
  let value = 0;
  for (let i = 0; i < count; ++i) {
    const digit = text.charCodeAt(from + i) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

function daysOfMonth(year: i32, month: i32): i32 {
  if (month == 2) return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

/** Returns the days since 1970-01-01. Years are counted from March, so that the leap day is their last day. */
function daysBefore(year: i32, month: i32, day: i32): i32 {
  const y = month <= 2 ? year - 1 + 400 : year + 400;
  const m = month <= 2 ? month + 9 : month - 3;
  const dayOfYear = (153 * m + 2) / 5 + day - 1;
  return y * 365 + y / 4 - y / 100 + y / 400 + dayOfYear - 719468 - 146097;
}
