// QueryString: the names and values of a query string in the form encoding: `&` between pairs, `+` for a space, and
// percent-encoded UTF-8. The text is split once; a value is decoded when it is needed.
import { wellFormed } from "./host";

export class QueryString {
  private names: string[] = [];
  /** Values as they arrived, still percent-encoded. */
  private values: string[] = [];
  /** Whether the encoding of a name is malformed or not UTF-8. Pairs from that name on are not read. */
  isMalformed: bool = false;

  constructor(text: string) {
    const pairs = text.split("&");
    for (let i = 0; i < pairs.length && !this.isMalformed; ++i)
      if (pairs[i].length > 0) this.add(pairs[i]);
  }

  private add(pair: string): void {
    const equals = pair.indexOf("=");
    const name = decodeStrictly(equals < 0 ? pair : pair.substring(0, equals));
    if (name === null) {
      this.isMalformed = true;
      return;
    }
    this.names.push(name);
    this.values.push(equals < 0 ? "" : pair.substring(equals + 1));
  }

  /** Returns the position of the first pair with this name at or after `from`; -1 when there is none. */
  find(name: string, from: i32 = 0): i32 {
    return this.names.indexOf(name, from);
  }

  /** Returns a value; null when its percent-encoding is malformed or not UTF-8. */
  value(position: i32): string | null {
    return decodeStrictly(this.values[position]);
  }
}

/** Decodes a text; returns null when its percent-encoding is malformed or not UTF-8. */
function decodeStrictly(text: string): string | null {
  return decode(text, true);
}

/** Decodes a text; leaves malformed percent-encoding unchanged, and replaces bad UTF-8. */
export function decodeLeniently(text: string): string {
  return wellFormed(decode(text, false)!);
}

function decode(text: string, strict: bool): string | null {
  if (!text.includes("%") && !text.includes("+")) return text;
  const bytes = Uint8Array.wrap(String.UTF8.encode(text));
  let length = 0;
  for (let i = 0; i < bytes.length; ++i) {
    let byte = bytes[i];
    if (byte == 0x2b) byte = 0x20;
    else if (byte == 0x25) {
      const digits = i + 2 < bytes.length ? (hexDigit(bytes[i + 1]) << 4) | hexDigit(bytes[i + 2]) : -1;
      if (digits >= 0) {
        byte = <u8>digits;
        i += 2;
      } else if (strict) return null;
    }
    bytes[length++] = byte;
  }
  if (strict && !isUtf8(bytes, length)) return null;
  return String.UTF8.decode(bytes.buffer.slice(0, length));
}

/** Returns the value of a hexadecimal digit; a negative number for any other character. */
function hexDigit(unit: u8): i32 {
  const digit = <i32>unit - 0x30;
  if (digit >= 0 && digit < 10) return digit;
  const letter = (<i32>unit | 0x20) - 0x61;
  return letter >= 0 && letter < 6 ? letter + 10 : -1;
}

/** Returns whether the bytes are UTF-8 (Unicode, table 3-7): no overlong form, no surrogate, none above U+10FFFF. */
function isUtf8(bytes: Uint8Array, length: i32): bool {
  let i = 0;
  while (i < length) {
    const lead = bytes[i++];
    if (lead < 0x80) continue;
    if (lead < 0xc2 || lead > 0xf4) return false;
    let least: u8 = 0x80;
    let most: u8 = 0xbf;
    if (lead == 0xe0) least = 0xa0;
    else if (lead == 0xed) most = 0x9f;
    else if (lead == 0xf0) least = 0x90;
    else if (lead == 0xf4) most = 0x8f;
    let following = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    while (following-- > 0) {
      if (i == length || bytes[i] < least || bytes[i] > most) return false;
      least = 0x80;
      most = 0xbf;
      ++i;
    }
  }
  return true;
}
