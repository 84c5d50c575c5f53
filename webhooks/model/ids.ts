// Ids: the names of events, deliveries and datasets, which follow from what they name. So whatever is done a second time meets what
// is there already.
import { createHash } from 'node:crypto';

/** Days of events that one segment has. */
const SEGMENT_DAYS = 5;
const DAY_MS = 86_400_000;
export const SEGMENT_MS = SEGMENT_DAYS * DAY_MS;

/** Characters of a hash in an id: 130 bits. */
const HASH_LENGTH = 26;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const DELIVERY_ID = new RegExp(`^dl_(\\d{1,6})_[a-z2-7]{${HASH_LENGTH}}$`);

/** Returns the number of the segment of a time, in milliseconds since 1970. */
export function segmentOf(timeMs: number): number {
  return Math.floor(timeMs / SEGMENT_MS);
}

/** Returns the id of the event that the report of a dataset with this sequence number causes. */
export function datasetEventId(tenant: string, dataset: string, seq: number): string {
  return `evt_${hashOf('dataset', tenant, dataset, String(seq))}`;
}

/** Returns the id of the event `webhook.failing` that a run of a delivery causes. */
export function failingEventId(delivery: string, run: number): string {
  return `evt_${hashOf('failing', delivery, String(run))}`;
}

/** Returns the id of the delivery of an event to a subscription, which says in which segment it is. */
export function deliveryId(segment: number, eventId: string, subscription: string): string {
  return `dl_${segment}_${hashOf('delivery', eventId, subscription)}`;
}

/** Returns the number of the segment of a delivery; undefined: no delivery has such an id. */
export function segmentOfDelivery(id: string): number | undefined {
  const [, segment] = DELIVERY_ID.exec(id) ?? [];
  return segment === undefined ? undefined : Number(segment);
}

/** Returns the id of a dataset's entity. */
export function datasetKey(tenant: string, dataset: string): string {
  return `ds_${hashOf('key', tenant, dataset)}`;
}

/** Returns the id of the entity of an event `webhook.failing`. */
export function noticeKey(delivery: string, run: number): string {
  return `${delivery}/${run}`;
}

/** The parts are hashed with their lengths, so that no two lists of parts are the same text. */
function hashOf(...parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return base32(hash.digest());
}

function base32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff;
    bits += 8;
    for (; bits >= 5 && text.length < HASH_LENGTH; bits -= 5)
      text += ALPHABET[(value >>> (bits - 5)) & 31]!;
    if (text.length === HASH_LENGTH) return text;
  }
  throw new TypeError('the hash is too short');
}
