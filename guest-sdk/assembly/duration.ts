// Duration: an exact, immutable length of time in milliseconds, stored and sent as ISO 8601 text such as "PT1H30M". A
// day is 24 hours. Years, months and weeks are refused, since they have no exact length or no unique text.
//
// Invariant: a duration is at most 100,000,000 days, the range of JavaScript's dates, so that no sum overflows.
import { Code, Refusal } from "./code";
import { isDigit, shortened } from "./json-cursor";
import { JsonReader } from "./json-reader";
import { JsonWriter } from "./json-writer";
import { Result } from "./result";

const SECOND_MS: i64 = 1000;
const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 86_400_000;
const LIMIT_MS: i64 = 8_640_000_000_000_000;
/** Maximum length of a text in UTF-16 code units; every duration without leading zeros is shorter. */
const TEXT_UNITS_MAX: i32 = 100;
const WORDS = "a duration as text like \"PT1H30M\", of at most 100000000 days";

export class Duration {
  private total: i64 = 0;

  static ofDays(days: i64): Duration {
    return Duration.of(days, DAY_MS);
  }

  static ofHours(hours: i64): Duration {
    return Duration.of(hours, HOUR_MS);
  }

  static ofMinutes(minutes: i64): Duration {
    return Duration.of(minutes, MINUTE_MS);
  }

  static ofSeconds(seconds: i64): Duration {
    return Duration.of(seconds, SECOND_MS);
  }

  static ofMs(ms: i64): Duration {
    return Duration.of(ms, 1);
  }

  /** Returns the time from `start` to `end`; it is negative when `end` is before `start`. */
  static between(start: Date, end: Date): Duration {
    return Duration.of(end.getTime() - start.getTime(), 1);
  }

  /** Parses a text such as `P1DT2H30M0.5S` or `-PT5M`. Refuses any other text with `BAD_REQUEST`. */
  static parse(text: string): Result<Duration> {
    const duration = new Duration();
    if (duration.take(text)) return Result.__svc_of<Duration>(duration);
    return Result.__svc_refused<Duration>(
      new Refusal(Code.BAD_REQUEST, "must be " + WORDS + ", found \"" + shortened(text) + "\""),
    );
  }

  private static of(count: i64, unitMs: i64): Duration {
    const most = LIMIT_MS / unitMs;
    if (count < -most || count > most) throw new Error("a duration has at most 100000000 days");
    const duration = new Duration();
    duration.total = count * unitMs;
    return duration;
  }

  /** The whole duration in milliseconds. */
  get ms(): i64 {
    return this.total;
  }

  get isZero(): bool {
    return this.total == 0;
  }

  get isNegative(): bool {
    return this.total < 0;
  }

  plus(other: Duration): Duration {
    return Duration.of(this.total + other.total, 1);
  }

  minus(other: Duration): Duration {
    return Duration.of(this.total - other.total, 1);
  }

  times(factor: i64): Duration {
    return this.total == 0 ? this : this.total < 0 ? Duration.of(factor, -this.total).negate() : Duration.of(factor, this.total);
  }

  negate(): Duration {
    return Duration.of(-this.total, 1);
  }

  abs(): Duration {
    return this.total < 0 ? this.negate() : this;
  }

  /** Returns the date that is later than `date` by this duration. */
  after(date: Date): Date {
    return new Date(date.getTime() + this.total);
  }

  /** Returns the date that is earlier than `date` by this duration. */
  before(date: Date): Date {
    return new Date(date.getTime() - this.total);
  }

  /** Returns -1 when this is less than `other`, 0 when both are equal, 1 otherwise. `-PT1H` is less than `PT0S`. */
  compare(other: Duration): i32 {
    return this.total < other.total ? -1 : this.total > other.total ? 1 : 0;
  }

  /** Returns whether both have the same length. `==` has the same result. */
  equals(other: Duration): bool {
    return this.total == other.total;
  }

  @operator("==")
  private static same(a: Duration | null, b: Duration | null): bool {
    if (changetype<usize>(a) == 0 || changetype<usize>(b) == 0) return changetype<usize>(a) == changetype<usize>(b);
    return changetype<Duration>(a).total == changetype<Duration>(b).total;
  }

  @operator("!=")
  private static differ(a: Duration | null, b: Duration | null): bool {
    return !Duration.same(a, b);
  }

  /** Returns the stored text, in days, hours, minutes and seconds: `P1DT2H`, and `PT0S` for zero. */
  toString(): string {
    let rest = this.total < 0 ? -this.total : this.total;
    if (rest == 0) return "PT0S";
    const days = rest / DAY_MS;
    rest %= DAY_MS;
    const hours = rest / HOUR_MS;
    const minutes = (rest % HOUR_MS) / MINUTE_MS;
    const seconds = (rest % MINUTE_MS) / SECOND_MS;
    const ms = rest % SECOND_MS;
    let text = this.total < 0 ? "-P" : "P";
    if (days > 0) text += days.toString() + "D";
    if (rest > 0) text += "T";
    if (hours > 0) text += hours.toString() + "H";
    if (minutes > 0) text += minutes.toString() + "M";
    if (seconds > 0 || ms > 0) text += seconds.toString() + fraction(ms) + "S";
    return text;
  }

  /** Marks a type whose JSON is a single text, so that a path or a query string can contain it. */
  __svc_isText(): void {}

  __svc_decode(reader: JsonReader): void {
    const text = reader.readName(WORDS);
    if (!reader.failed && !this.take(text)) reader.fail("must be " + WORDS + ", found \"" + shortened(text) + "\"");
  }

  __svc_encode(to: JsonWriter): void {
    to.string(this.toString());
  }

  __svc_clone(): Duration {
    return this;
  }

  /** Sets the duration from a text. Returns false when the text is not a duration. */
  private take(text: string): bool {
    if (text.length > TEXT_UNITS_MAX) return false;
    const negative = text.length > 0 && text.charCodeAt(0) == 0x2d;
    let at = negative ? 1 : 0;
    if (at >= text.length || text.charCodeAt(at++) != 0x50 || at == text.length) return false;
    let sum: i64 = 0;
    // Index of the largest unit that may follow: D, H, M, S.
    let next = 0;
    let inTime = false;
    while (at < text.length) {
      if (!inTime && text.charCodeAt(at) == 0x54) {
        inTime = true;
        next = max(next, 1);
        if (++at == text.length) return false;
      }
      const from = at;
      let count: i64 = 0;
      while (at < text.length && isDigit(text.charCodeAt(at))) {
        count = count * 10 + (text.charCodeAt(at++) - 0x30);
        if (count > LIMIT_MS) return false;
      }
      if (at == from) return false;
      let ms: i64 = -1;
      if (at < text.length && text.charCodeAt(at) == 0x2e) {
        const digits = at + 1;
        ms = 0;
        for (let unit: i64 = 100; ++at < text.length && isDigit(text.charCodeAt(at)); unit /= 10) {
          if (unit == 0) return false;
          ms += (text.charCodeAt(at) - 0x30) * unit;
        }
        if (at == digits) return false;
      }
      if (at == text.length) return false;
      const unit = unitOf(text.charCodeAt(at++));
      if (unit < next || (unit > 0) != inTime || (ms >= 0 && unit != 3)) return false;
      next = unit + 1;
      const unitMs = unit == 0 ? DAY_MS : unit == 1 ? HOUR_MS : unit == 2 ? MINUTE_MS : SECOND_MS;
      if (count > LIMIT_MS / unitMs) return false;
      sum += count * unitMs + max(ms, 0);
      if (sum > LIMIT_MS) return false;
    }
    if (negative && sum == 0) return false;
    this.total = negative ? -sum : sum;
    return true;
  }
}

/** Returns the index of a unit: 0 for D, 1 for H, 2 for M, 3 for S; -1 for anything else. */
function unitOf(letter: i32): i32 {
  switch (letter) {
    case 0x44:
      return 0;
    case 0x48:
      return 1;
    case 0x4d:
      return 2;
    case 0x53:
      return 3;
    default:
      return -1;
  }
}

function fraction(ms: i64): string {
  if (ms == 0) return "";
  let digits = (1000 + ms).toString().substring(1);
  while (digits.endsWith("0")) digits = digits.substring(0, digits.length - 1);
  return "." + digits;
}
