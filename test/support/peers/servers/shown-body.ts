// A body as the servers report it: in hexadecimal digits, or by its length and digest if it is long.
import { createHash } from 'node:crypto';

const SHOWN_BYTES_MAX = 4096;

export function shownBody(body: Buffer): string {
  if (body.length <= SHOWN_BYTES_MAX) return `=${body.toString('hex')}`;
  return `${body.length}-${createHash('md5').update(body).digest('hex')}`;
}
