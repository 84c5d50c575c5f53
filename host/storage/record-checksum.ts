// The checksum that a record carries: over all of it and the entity it belongs to, so that a byte
// that changed on disk is found wherever it lies.
import { crc32 } from 'node:zlib';

/** CRC-32 of the record's fields. A deletion has the manifest and the json `null`, a record of format 1 the seed. */
export function recordChecksum(
  component: string,
  id: string,
  seq: number,
  kind: number,
  timeMs: number,
  upperSeed: number | null,
  lowerSeed: number | null,
  manifest: string | null,
  json: string | null,
): number {
  const seed = upperSeed === null ? '' : ` ${upperSeed} ${lowerSeed}`;
  const head = crc32(`${component}\n${id}\n${seq} ${kind} ${timeMs}${seed}\n${manifest ?? ''}\n`);
  return json === null ? head : crc32(json, head);
}
