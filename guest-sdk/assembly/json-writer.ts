// JsonWriter: writes JSON text into a growing buffer. The module shares one writer: writing a value runs no code of the
// author, so two values are never written at the same time.
import { itoa_buffered } from "util/number";
import { DOUBLE_BYTES, putDouble } from "./json-double";
import { STORED_DEPTH_MAX } from "./json-reader";

const BUFFER_BYTES: i32 = 2048;
/** Maximum size of a buffer that is kept; a larger one is released. */
const BUFFER_KEPT_BYTES: i32 = 65536;
/** Bytes for the longest integer, of 20 characters. */
const INTEGER_BYTES: i32 = 40;
const REPLACEMENT: u16 = 0xfffd;
const SAFE_INTEGER_MAX: u64 = 9007199254740991;

export class JsonWriter {
  private buffer: ArrayBuffer = new ArrayBuffer(BUFFER_BYTES);
  private used: i32 = 0;
  private depth: i32 = 0;

  reset(): void {
    this.used = 0;
    this.depth = 0;
    if (this.buffer.byteLength > BUFFER_KEPT_BYTES) this.buffer = new ArrayBuffer(BUFFER_BYTES);
  }

  toString(): string {
    const bytes = <usize>this.used;
    const copy = __new(bytes, idof<string>());
    memory.copy(copy, changetype<usize>(this.buffer), bytes);
    return changetype<string>(copy);
  }

  /** Reserves `bytes` more; returns their address. */
  private reserve(bytes: i32): usize {
    const needed = this.used + bytes;
    const size = this.buffer.byteLength;
    if (needed > size) {
      const grown = new ArrayBuffer(max(needed, size << 1));
      memory.copy(changetype<usize>(grown), changetype<usize>(this.buffer), this.used);
      this.buffer = grown;
    }
    return changetype<usize>(this.buffer) + this.used;
  }

  /** Enters an object or an array. */
  enter(): void {
    if (++this.depth > STORED_DEPTH_MAX)
      throw new Error(
        "a value that is nested deeper than " + STORED_DEPTH_MAX.toString() + " levels cannot be written as JSON",
      );
  }

  leave(): void {
    --this.depth;
  }

  /** Writes text that is already JSON. */
  raw(text: string): void {
    const bytes = text.length << 1;
    memory.copy(this.reserve(bytes), changetype<usize>(text), bytes);
    this.used += bytes;
  }

  bool(value: bool): void {
    this.raw(value ? "true" : "false");
  }

  /** Writes an integer; beyond 2^53 - 1 in magnitude it becomes a string. */
  integer<T>(value: T): void {
    if (sizeof<T>() == 8) {
      const fits = isSigned<T>()
        ? <i64>value <= <i64>SAFE_INTEGER_MAX && <i64>value >= -(<i64>SAFE_INTEGER_MAX)
        : <u64>value <= SAFE_INTEGER_MAX;
      if (!fits) {
        this.string(value.toString());
        return;
      }
    }
    this.used += <i32>itoa_buffered(this.reserve(INTEGER_BYTES), value) << 1;
  }

  double(value: f64): void {
    const at = this.reserve(DOUBLE_BYTES);
    this.used += <i32>(putDouble(at, value) - at);
  }

  /** Writes a string with its quotes. A lone surrogate becomes U+FFFD. */
  string(value: string): void {
    const length = value.length;
    // The longest escape has six code units.
    let target = this.reserve(length * 12 + 4);
    const begin = target;
    let source = changetype<usize>(value);
    const end = source + (<usize>length << 1);
    store<u16>(target, 0x22);
    target += 2;
    while (source < end) {
      const unit = load<u16>(source);
      source += 2;
      if (unit >= 0x20 && unit != 0x22 && unit != 0x5c && (unit & 0xf800) != 0xd800) {
        store<u16>(target, unit);
        target += 2;
      } else if ((unit & 0xf800) == 0xd800) {
        const paired = unit < 0xdc00 && source < end && (load<u16>(source) & 0xfc00) == 0xdc00;
        store<u16>(target, paired ? unit : REPLACEMENT);
        target += 2;
        if (paired) {
          store<u16>(target, load<u16>(source));
          source += 2;
          target += 2;
        }
      } else target = escape(target, unit);
    }
    store<u16>(target, 0x22);
    this.used += <i32>(target + 2 - begin);
  }
}

function escape(target: usize, unit: u16): usize {
  let letter: u16 = 0;
  switch (unit) {
    case 0x08:
      letter = 0x62;
      break;
    case 0x09:
      letter = 0x74;
      break;
    case 0x0a:
      letter = 0x6e;
      break;
    case 0x0c:
      letter = 0x66;
      break;
    case 0x0d:
      letter = 0x72;
      break;
    case 0x22:
    case 0x5c:
      letter = unit;
      break;
  }
  store<u16>(target, 0x5c);
  if (letter != 0) {
    store<u16>(target + 2, letter);
    return target + 4;
  }
  store<u16>(target + 2, 0x75);
  store<u32>(target + 4, 0x300030);
  store<u16>(target + 8, 0x30 + (unit >> 4));
  const low = unit & 15;
  store<u16>(target + 10, low < 10 ? 0x30 + low : 0x57 + low);
  return target + 12;
}
