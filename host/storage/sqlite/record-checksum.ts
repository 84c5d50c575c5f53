// RecordChecksum computes the checksums of the journal. A checksum covers a whole record and the entity that it belongs
// to, so that a byte that changed on disk is found anywhere.
import { crc32 } from 'node:zlib';
import type { RecordRow } from './journal-schema.ts';

/**
 * Returns whether a value that should be a text is a text. Damage can turn a text into a blob with the same bytes, and
 * therefore the same checksum.
 */
export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Added to the checksum of a record that covers position, trace and key, as in records since format 3. */
export const COVERS_ORIGIN = 2 ** 32;
/** Added to the checksum of a record with `by` in addition, so that no damage removes or adds `by`. */
export const COVERS_BY = 2 ** 32;

/** Returns the checksum of the text before the fields of a record of the entity. */
export function entityChecksum(component: string, id: string): number {
  return crc32(`${component}\n${id}\n`);
}

/**
 * Returns the CRC-32 of the entity and the record's fields, without the checksum `row[6]`, plus COVERS_ORIGIN, and plus COVERS_BY if
 * the record has `by`. A record without `by` has the checksum that it had before there was such a field.
 */
export function recordChecksum(component: string, id: string, row: RecordRow): number {
  const [pos, seq, kind, timeMs, manifest, json, , upper, lower, trace, key, by] = row;
  const head =
    `${component}\n${id}\n${pos} ${seq} ${kind} ${timeMs} ${upper ?? ''} ${lower ?? ''} ` +
    `${trace ?? ''}\n${key ?? ''}${by === null ? '' : `\n${by}`}\n${manifest ?? ''}\n`;
  const crc = crc32(head);
  const covers = by === null ? COVERS_ORIGIN : COVERS_ORIGIN + COVERS_BY;
  return covers + (json === null ? crc : crc32(json, crc));
}

/** Returns whether a record matches its checksum, in the format in which it was written. */
export function isWhole(component: string, id: string, row: RecordRow): boolean {
  const [, , , , , json, crc] = row;
  if (json !== null && !isText(json)) return false;
  if (crc >= COVERS_ORIGIN) return crc === recordChecksum(component, id, row);
  return crc === checksumBefore3(component, id, row);
}

/**
 * Returns the checksum of a record of format 1 or 2; undefined if the record has a trace, a key or `by`, which these
 * formats do not have. Manifest and JSON text of a deletion are null, and so is the seed in format 1.
 */
function checksumBefore3(component: string, id: string, row: RecordRow): number | undefined {
  const [, seq, kind, timeMs, manifest, json, , upper, lower, trace, key, by] = row;
  if (trace !== null || key !== null || by !== null) return undefined;
  const seed = upper === null ? '' : ` ${upper} ${lower}`;
  const head = crc32(`${component}\n${id}\n${seq} ${kind} ${timeMs}${seed}\n${manifest ?? ''}\n`);
  return json === null ? head : crc32(json, head);
}

/** Returns the CRC-32 of a stored reply and of the entity that gave it. */
export function answerChecksum(
  component: string,
  id: string,
  [key, digest, timeMs, outcome]: readonly [string, string, number, string],
): number {
  return crc32(outcome, crc32(`${component}\n${id}\n${key}\n${digest} ${timeMs}\n`));
}
