// RowChecksum is the checksum of a row: it covers every column that means something, so that a row which was changed by hand, or
// by a damaged disk, is found when it is read.
import { crc32 } from 'node:zlib';

/** A column: a text, a number of any type as its decimal digits, or null. */
export type CheckedColumn = string | number | bigint | null | undefined;

/** Returns the CRC-32 of the columns, in their order. Null and undefined are the same column. */
export function rowChecksum(columns: readonly CheckedColumn[]): number {
  let text = '';
  for (const column of columns) {
    if (column === null || column === undefined) text += '-;';
    else {
      const value = String(column);
      // The length separates the columns, so that no text can move from one to the next.
      text += `${value.length}:${value}`;
    }
  }
  return crc32(text);
}
