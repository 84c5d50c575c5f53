// The checksums of the journal: over all of a record and the entity it belongs to, so that a byte that
// changed on disk is found wherever it lies.
import { crc32 } from 'node:zlib';
import type { RecordRow } from './journal-schema.ts';

/**
 * Whether a value that is to be a text is one. What damage has made bytes of has the same checksum, and would be passed
 * on as what it is not.
 */
export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Added to the checksum of a record whose place, trace and key are under it: those of format 3. */
export const COVERS_ORIGIN = 2 ** 32;

/** Of what stands before the fields of a record of the entity. */
export function entityChecksum(component: string, id: string): number {
  return crc32(`${component}\n${id}\n`);
}

/** CRC-32 of the record's fields, and what says that it covers them all. `row[6]`, the checksum, is left out. */
export function recordChecksum(component: string, id: string, row: RecordRow): number {
  const [pos, seq, kind, timeMs, manifest, json, , upper, lower, trace, key] = row;
  const head =
    `${component}\n${id}\n${pos} ${seq} ${kind} ${timeMs} ${upper ?? ''} ${lower ?? ''} ` +
    `${trace ?? ''}\n${key ?? ''}\n${manifest ?? ''}\n`;
  const crc = crc32(head);
  return COVERS_ORIGIN + (json === null ? crc : crc32(json, crc));
}

/** Whether the checksum of a record is that of its fields, in the form that it was written in. */
export function isWhole(component: string, id: string, row: RecordRow): boolean {
  const [, , , , , json, crc] = row;
  if (json !== null && !isText(json)) return false;
  if (crc >= COVERS_ORIGIN) return crc === recordChecksum(component, id, row);
  return crc === checksumBefore3(component, id, row);
}

/** As records of format 1 and 2 have it. A deletion has the manifest and the json `null`, one of format 1 the seed. */
function checksumBefore3(component: string, id: string, row: RecordRow): number | undefined {
  const [, seq, kind, timeMs, manifest, json, , upper, lower, trace, key] = row;
  if (trace !== null || key !== null) return undefined;
  const seed = upper === null ? '' : ` ${upper} ${lower}`;
  const head = crc32(`${component}\n${id}\n${seq} ${kind} ${timeMs}${seed}\n${manifest ?? ''}\n`);
  return json === null ? head : crc32(json, head);
}

/** CRC-32 of a stored reply and of the entity that gave it. */
export function answerChecksum(
  component: string,
  id: string,
  [key, digest, timeMs, outcome]: readonly [string, string, number, string],
): number {
  return crc32(outcome, crc32(`${component}\n${id}\n${key}\n${digest} ${timeMs}\n`));
}
