// StoredRow: a view's row as the database has it: the text of its key, its JSON text, and a checksum of both. Values of columns are
// derived from the JSON text, and have no checksum of their own.
import { crc32 } from 'node:zlib';
import type { ViewRow } from '../../../engine/needs/views.ts';
import { keyOfText } from './column-text.ts';
import { UnusableRows } from './view-failure.ts';

export function rowChecksum(key: string, json: string): number {
  return crc32(`${key}\n${json}`);
}

/** Returns the row. Throws UnusableRows if it is not what was stored. */
export function checkedRow(keyText: unknown, json: unknown, crc: unknown): ViewRow {
  if (typeof keyText === 'string' && typeof json === 'string') {
    const key = keyOfText(keyText);
    if (crc === rowChecksum(key, json)) return { key, json };
  }
  throw new UnusableRows('a row does not match its checksum');
}
