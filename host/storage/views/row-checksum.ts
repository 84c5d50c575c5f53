// RowChecksum: the checksum of a view's row, which covers its key and its JSON text. Values of columns are derived from
// the JSON text, and have no checksum of their own.
import { crc32 } from 'node:zlib';
import type { ViewRow } from '../../engine/needs/views.ts';
import { viewDamaged } from './view-failure.ts';

/** Key, JSON text and checksum, as a statement returns them. */
export type StoredRow = readonly [key: unknown, json: unknown, crc: unknown];

export function rowChecksum(key: string, json: string): number {
  return crc32(`${key}\n${json}`);
}

/** Returns the row. Throws SVC_VIEW_CORRUPT if it is not what was stored. `path`: that of the file. */
export function checkedRow([key, json, crc]: StoredRow, path: string): ViewRow {
  // Damage can turn a text into a blob with the same bytes.
  if (typeof key === 'string' && typeof json === 'string' && crc === rowChecksum(key, json))
    return { key, json };
  throw viewDamaged(path, 'a row does not match its checksum');
}
