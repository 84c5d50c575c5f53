// SealedText: JSON with a checksum, in which the definition of a view keeps what describes its rows.
import { crc32 } from 'node:zlib';

const SEALED = /^([0-9a-f]{8}) (.*)$/s;

/** `name` names the definition and the column, so that the text of another one is not taken for this. */
export function sealed(name: string, content: unknown): string {
  const json = JSON.stringify(content);
  return `${checksum(name, json)} ${json}`;
}

/** Returns the content; undefined if the text is not what was stored. */
export function unsealed(name: string, text: unknown): unknown {
  const [, crc, json] = (typeof text === 'string' && SEALED.exec(text)) || [];
  // Whatever has the right checksum was written by `sealed`.
  return json !== undefined && crc === checksum(name, json) ? JSON.parse(json) : undefined;
}

function checksum(name: string, json: string): string {
  return crc32(json, crc32(`${name}\n`))
    .toString(16)
    .padStart(8, '0');
}
