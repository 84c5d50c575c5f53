// Bytes as base64 text (RFC 4648, section 4, with padding), read strictly: each sequence of bytes has exactly one
// text, so a value is written as it was read.
import { JsonReader } from "./json-reader";
import { JsonWriter } from "./json-writer";
import { shortened } from "./json-cursor";

const WORDS = "bytes as base64 text";
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const PADDING: u32 = 0x3d;

export function readBytes(reader: JsonReader): Uint8Array {
  const text = reader.readName(WORDS);
  if (reader.failed) return changetype<Uint8Array>(0);
  const bytes = decode(text);
  if (bytes === null) {
    reader.fail("must be " + WORDS + ", found \"" + shortened(text) + "\"");
    return changetype<Uint8Array>(0);
  }
  return bytes;
}

export function writeBytes(writer: JsonWriter, bytes: Uint8Array): void {
  writer.raw("\"");
  writer.raw(encodeBase64(bytes));
  writer.raw("\"");
}

export function encodeBase64(bytes: Uint8Array): string {
  const length = bytes.length;
  const text = __new(<usize>((length + 2) / 3) << 3, idof<string>());
  let target = text;
  for (let at = 0; at < length; at += 3) {
    const left = length - at;
    const second: u32 = left > 1 ? bytes[at + 1] : 0;
    const third: u32 = left > 2 ? bytes[at + 2] : 0;
    const group = (<u32>bytes[at] << 16) | (second << 8) | third;
    store<u16>(target, letter(group >> 18));
    store<u16>(target, letter(group >> 12), 2);
    store<u16>(target, left > 1 ? letter(group >> 6) : PADDING, 4);
    store<u16>(target, left > 2 ? letter(group) : PADDING, 6);
    target += 8;
  }
  return changetype<string>(text);
}

function letter(bits: u32): u32 {
  return load<u16>(changetype<usize>(ALPHABET) + ((bits & 63) << 1));
}

/** Returns null when the text is not base64. */
function decode(text: string): Uint8Array | null {
  const length = text.length;
  if ((length & 3) != 0) return null;
  let padding = 0;
  while (padding < 2 && padding < length && <u32>text.charCodeAt(length - 1 - padding) == PADDING) ++padding;
  const bytes = new Uint8Array((length / 4) * 3 - padding);
  let group: u32 = 0;
  let target = 0;
  for (let at = 0; at < length; ++at) {
    const value = at < length - padding ? bitsOf(<u32>text.charCodeAt(at)) : 0;
    if (value < 0) return null;
    group = (group << 6) | value;
    if ((at & 3) != 3) continue;
    for (let shift = 16; shift >= 0; shift -= 8) {
      const byte = <u8>(group >> shift);
      if (target < bytes.length) bytes[target++] = byte;
      else if (byte != 0) return null;
    }
    group = 0;
  }
  return bytes;
}

function bitsOf(unit: u32): i32 {
  if (unit - 0x41 < 26) return unit - 0x41;
  if (unit - 0x61 < 26) return unit - 0x61 + 26;
  if (unit - 0x30 < 10) return unit - 0x30 + 52;
  if (unit == 0x2b) return 62;
  return unit == 0x2f ? 63 : -1;
}
