// byteChecksum computes the CRC-32 of a range of bytes, as zlib does. It is written in JavaScript because zlib
// needs a view of each range: a view and a call take several times as long as this loop over a small record.

/**
 * Number of bytes in a group, and of tables (the method is called slicing by eight). Table k holds what a byte
 * contributes when k bytes follow it in its group.
 */
const GROUP_BYTES = 8;
const REVERSED_POLYNOMIAL = 0xedb88320;

const TABLE = new Int32Array(GROUP_BYTES * 256);
for (let byte = 0; byte < 256; byte++) {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++)
    rest = (rest & 1) === 1 ? (rest >>> 1) ^ REVERSED_POLYNOMIAL : rest >>> 1;
  TABLE[byte] = rest;
}
for (let at = 256; at < TABLE.length; at++) {
  const before = TABLE[at - 256]!;
  TABLE[at] = (before >>> 8) ^ TABLE[before & 255]!;
}

/**
 * Returns the checksum of a text followed by bytes. `before`: the checksum of the text. The bytes are those of `bytes`
 * from index `from` up to, and without, `until`.
 * `view` is a view of all of `bytes`.
 */
export function byteChecksum(
  bytes: Uint8Array,
  view: DataView,
  from: number,
  until: number,
  before: number,
): number {
  let crc = ~before;
  let at = from;
  for (const last = until - GROUP_BYTES; at <= last; at += GROUP_BYTES) {
    const low = crc ^ view.getInt32(at, true);
    const high = view.getInt32(at + 4, true);
    crc =
      TABLE[1792 + (low & 255)]! ^
      TABLE[1536 + ((low >>> 8) & 255)]! ^
      TABLE[1280 + ((low >>> 16) & 255)]! ^
      TABLE[1024 + (low >>> 24)]! ^
      TABLE[768 + (high & 255)]! ^
      TABLE[512 + ((high >>> 8) & 255)]! ^
      TABLE[256 + ((high >>> 16) & 255)]! ^
      TABLE[high >>> 24]!;
  }
  for (; at < until; at++) crc = (crc >>> 8) ^ TABLE[(crc ^ bytes[at]!) & 255]!;
  return ~crc >>> 0;
}
