// FlatList encodes a list of scalars as MessagePack, and decodes it: a message between nodes. Nothing is nested, so that reading
// needs no stack, and no length is believed before its bytes have been counted: whatever the bytes are, reading takes memory in
// proportion to them. A library for all of MessagePack is not used, because it reads much more than such lists, and changes
// texts: msgpackr 2.1.3 drops U+FEFF at the beginning of a long text, and replaces half of a surrogate pair.
//
// The subset: array 32; nil, positive fixint, uint 32, float 64; fixstr, str 8, str 32; bin 32; and ext 32 of type 1, a text
// that is no well-formed Unicode, in UTF-16.
import { RefusedMessage } from './refused-message.ts';

export type Scalar = string | number | Uint8Array | null;

const ARRAY_32 = 0xdd;
const NIL = 0xc0;
const BIN_32 = 0xc6;
const EXT_32 = 0xc9;
const FLOAT_64 = 0xcb;
const UINT_32 = 0xce;
const FIXSTR = 0xa0;
const FIXSTR_LENGTH_MAX = 31;
const STR_8 = 0xd9;
const STR_32 = 0xdb;
const UTF_16 = 1;

/** Bytes of the length before each message. */
export const LENGTH_BYTES = 4;
const ARRAY_BYTES = 5;
const NUMBER_BYTES_MAX = 9;
const TEXT_HEADER_BYTES_MAX = 6;
/** A text of up to this many UTF-16 units is read and written unit by unit, which is faster than a call of the runtime. */
const SHORT = 24;
const SLAB_BYTES = 64 * 1024;

let slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
let used = 0;

/** Returns the message with its length before it, as it is sent. */
export function encodeList(list: readonly Scalar[]): Buffer {
  let bytesMax = LENGTH_BYTES + ARRAY_BYTES;
  for (const value of list) bytesMax += scalarBytesMax(value);
  if (bytesMax > SLAB_BYTES) {
    const own = Buffer.allocUnsafeSlow(bytesOf(list));
    return own.subarray(0, write(own, 0, list));
  }
  if (used + bytesMax > SLAB_BYTES) {
    slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
    used = 0;
  }
  const start = used;
  used = write(slab, start, list);
  return slab.subarray(start, used);
}

/** Returns the largest number of bytes that a value can have in a message. */
export function scalarBytesMax(value: Scalar): number {
  if (typeof value === 'string') return TEXT_HEADER_BYTES_MAX + 3 * value.length;
  return value instanceof Uint8Array ? TEXT_HEADER_BYTES_MAX + value.length : NUMBER_BYTES_MAX;
}

/** Returns the number of bytes that a value has in a message, or up to five more. */
export function scalarBytes(value: Scalar): number {
  if (typeof value !== 'string') return scalarBytesMax(value);
  return (
    TEXT_HEADER_BYTES_MAX + (value.isWellFormed() ? Buffer.byteLength(value) : 2 * value.length)
  );
}

function bytesOf(list: readonly Scalar[]): number {
  let bytes = LENGTH_BYTES + ARRAY_BYTES;
  for (const value of list) bytes += scalarBytes(value);
  return bytes;
}

/** Writes the message at `start`, and returns the position after it. */
function write(out: Buffer, start: number, list: readonly Scalar[]): number {
  let at = start + LENGTH_BYTES;
  out[at] = ARRAY_32;
  at = out.writeUInt32BE(list.length, at + 1);
  for (const value of list) {
    if (typeof value === 'string') at = writeText(out, at, value);
    else if (typeof value === 'number') at = writeNumber(out, at, value);
    else if (value === null) out[at++] = NIL;
    else {
      out[at] = BIN_32;
      at = out.writeUInt32BE(value.length, at + 1);
      out.set(value, at);
      at += value.length;
    }
  }
  out.writeUInt32BE(at - start - LENGTH_BYTES, start);
  return at;
}

function writeNumber(out: Buffer, at: number, value: number): number {
  if (value >= 0 && value <= 0xffff_ffff && Number.isInteger(value)) {
    if (value < 0x80) {
      out[at] = value;
      return at + 1;
    }
    out[at] = UINT_32;
    return out.writeUInt32BE(value, at + 1);
  }
  out[at] = FLOAT_64;
  return out.writeDoubleBE(value, at + 1);
}

function writeText(out: Buffer, at: number, text: string): number {
  const { length } = text;
  if (length <= SHORT) {
    let index = 0;
    for (; index < length; index++) {
      const unit = text.charCodeAt(index);
      if (unit > 0x7f) break;
      out[at + 1 + index] = unit;
    }
    if (index === length) {
      out[at] = FIXSTR | length;
      return at + 1 + length;
    }
  }
  if (!text.isWellFormed()) {
    out[at] = EXT_32;
    const content = out.writeUInt32BE(2 * length, at + 1) + 1;
    out[content - 1] = UTF_16;
    return content + out.write(text, content, 'utf16le');
  }
  // The longest text that surely has a length of one byte.
  const isBrief = 3 * length <= 0xff;
  const content = at + (isBrief ? 2 : 5);
  const bytes = out.write(text, content, 'utf8');
  out[at] = isBrief ? STR_8 : STR_32;
  if (isBrief) out[at + 1] = bytes;
  else out.writeUInt32BE(bytes, at + 1);
  return content + bytes;
}

/**
 * Reads the list that the bytes from `start` to `end` are. Throws RefusedMessage, and nothing else, for bytes that are
 * anything but one list of at most `valuesMax` values.
 */
export function decodeList(bytes: Buffer, start: number, end: number, valuesMax: number): Scalar[] {
  if (end - start < ARRAY_BYTES || bytes[start] !== ARRAY_32)
    throw new RefusedMessage('sent a message that is no list');
  const count = bytes.readUInt32BE(start + 1);
  // Each value has one byte at least.
  if (count > valuesMax || count > end - start - ARRAY_BYTES)
    throw new RefusedMessage(`sent a message with a list of ${count} values`);
  const list: Scalar[] = [];
  let at = start + ARRAY_BYTES;
  for (let left = count; left > 0; left--) {
    if (at >= end) throw truncated();
    const token = bytes[at++]!;
    if (token < 0x80) list.push(token);
    else if (token === NIL) list.push(null);
    else if (token === UINT_32) {
      if (end - at < 4) throw truncated();
      list.push(bytes.readUInt32BE(at));
      at += 4;
    } else if (token === FLOAT_64) {
      if (end - at < 8) throw truncated();
      list.push(bytes.readDoubleBE(at));
      at += 8;
    } else {
      let length: number;
      if (token >= FIXSTR && token <= FIXSTR + FIXSTR_LENGTH_MAX) length = token - FIXSTR;
      else if (token === STR_8) {
        if (at >= end) throw truncated();
        length = bytes[at++]!;
      } else if (token === STR_32 || token === BIN_32 || token === EXT_32) {
        if (end - at < 4) throw truncated();
        length = bytes.readUInt32BE(at);
        at += 4;
      } else throw new RefusedMessage(`sent a value of the type 0x${token.toString(16)}`);
      if (token === EXT_32) {
        if (at >= end) throw truncated();
        const type = bytes[at++]!;
        if (type !== UTF_16 || length % 2 !== 0)
          throw new RefusedMessage(`sent an extension of the type ${type}, ${length} bytes long`);
      }
      if (length > end - at) throw truncated();
      const content = at;
      at += length;
      if (token === BIN_32) list.push(new Uint8Array(bytes.subarray(content, at)));
      else if (token === EXT_32) list.push(bytes.toString('utf16le', content, at));
      else list.push(textOf(bytes, content, at));
    }
  }
  if (at !== end) throw new RefusedMessage('sent bytes behind the list of a message');
  return list;
}

function textOf(bytes: Buffer, start: number, end: number): string {
  if (end - start > SHORT) return bytes.toString('utf8', start, end);
  let text = '';
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte > 0x7f) return bytes.toString('utf8', start, end);
    text += String.fromCharCode(byte);
  }
  return text;
}

function truncated(): RefusedMessage {
  return new RefusedMessage('sent a message whose values are longer than it');
}
