// The framing of a chunked body (RFC 9112, section 7.1). A chunk is `chunkHead(n)`, n bytes of data and `CHUNK_END`.
import { encodeFields } from './head-writer.ts';

export const CHUNK_END = Buffer.from('\r\n');
/** The end of a chunked body without trailers. */
export const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** Encodes the line before the data of a chunk. Throws a RangeError for a length below 1, which would end the body. */
export function chunkHead(length: number): Buffer {
  if (!Number.isSafeInteger(length) || length < 1)
    throw new RangeError('a chunk has at least one byte');
  return Buffer.from(`${length.toString(16)}\r\n`, 'latin1');
}

/** Encodes the end of a chunked body with trailers: name, value, name, value and so on. */
export function encodeTrailers(flat: readonly string[]): Buffer {
  return flat.length === 0 ? LAST_CHUNK : Buffer.from(encodeFields('0\r\n', flat), 'latin1');
}
