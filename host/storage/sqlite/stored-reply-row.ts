// StoredReplyRow is the stored reply to an idempotency key as a row, with the outcome as JSON and a checksum.
import type { StoredReply } from '../../engine/needs/journal.ts';
import type { EntityRef } from '@svc/model/entity';
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';
import { outcomeOf } from '../outcome-text.ts';
import { answerChecksum, isText } from './record-checksum.ts';

export type StoredReplyRow = readonly [
  key: string,
  digest: string,
  timeMs: number,
  outcome: string,
  crc: number,
];

/** Returns the stored reply in a row. Throws SVC_JOURNAL_CORRUPT when the row is not what was written. */
export function storedReplyOf(entity: EntityRef, row: unknown): StoredReply {
  const [key, digest, timeMs, outcome, crc] = row as StoredReplyRow;
  const { component, id } = entity;
  if (!isText(outcome) || crc !== answerChecksum(component, id, [key, digest, timeMs, outcome]))
    throw new SvcError(
      'SVC_JOURNAL_CORRUPT',
      `The journal of entity '${printable(id)}' of component '${printable(component)}' is damaged: the ` +
        `checksum of its answer to the idempotency key '${printable(key)}' does not fit. ` +
        'Restore the data folder from a backup; the other entities are not affected.',
    );
  return { key, digest, timeMs, ...outcomeOf(outcome) };
}
