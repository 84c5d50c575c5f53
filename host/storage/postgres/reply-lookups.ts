// ReplyLookups looks for the replies to idempotency keys. All lookups that begin while one request is under way go together in the
// next one.
//
// Invariant: the outcomes that one answer of the database holds have at most OUTCOMES_BYTES_MAX bytes and those of one reply.
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';
import type { EntityRef } from '@svc/model/entity';
import { sliceOf } from '@svc/model/slice';
import {
  LEFT_TO_ANSWER,
  READ_UNITS_MAX,
  type ReplyAhead,
  type StoredReply,
} from '../../engine/needs/journal.ts';
import { outcomeOf } from '../outcome-text.ts';
import type { ReadingSession } from './reading-session.ts';
import { rowChecksum } from './row-checksum.ts';

const OUTCOMES_BYTES_MAX = READ_UNITS_MAX;
/** Most keys of a request. */
const KEYS_MAX = 1_000;

/** A reply whose outcome is not sent is looked for again, if it was not looked for ahead. */
const FIND = {
  name: 'find-replies',
  text: `SELECT f.lookup, f.digest, f.time_ms, f.crc, CASE WHEN f.before < ${OUTCOMES_BYTES_MAX} THEN f.outcome END
  FROM (
    SELECT r.lookup, p.*, sum(octet_length(p.outcome)) OVER (ORDER BY r.lookup) - octet_length(p.outcome) AS before
    FROM unnest($1::int4[], $2::int2[], $3::text[], $4::text[], $5::text[])
      AS r(lookup, slice, component, id, key)
    JOIN svc.reply p ON p.slice = r.slice AND p.component = r.component AND p.id = r.id AND p.key = r.key
  ) f`,
};
type FoundRow = readonly [
  lookup: number,
  digest: string,
  timeMs: number,
  crc: number,
  outcome: string | null,
];

interface Lookup {
  readonly entity: EntityRef;
  readonly key: string;
  /** Whether the lookup may be left to `answer`. */
  readonly mayBeLeft: boolean;
  readonly found: PromiseWithResolvers<ReplyAhead>;
}

export class ReplyLookups {
  readonly #reading: ReadingSession;
  #waiting: Lookup[] = [];
  #isSending = false;

  constructor(reading: ReadingSession) {
    this.#reading = reading;
  }

  /** Does what `Journal.answer` does. */
  answer(entity: EntityRef, key: string): Promise<StoredReply | undefined> {
    return this.#find(entity, key, false) as Promise<StoredReply | undefined>;
  }

  /** Does what `Journal.lookAhead` does. */
  lookAhead(entity: EntityRef, key: string): Promise<ReplyAhead> {
    return this.#find(entity, key, true);
  }

  #find(entity: EntityRef, key: string, mayBeLeft: boolean): Promise<ReplyAhead> {
    const found = Promise.withResolvers<ReplyAhead>();
    this.#waiting.push({ entity, key, mayBeLeft, found });
    if (!this.#isSending) void this.#send();
    return found.promise;
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    // The lookups of this turn of the event loop go together.
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    while (this.#waiting.length > 0) {
      const lookups = this.#waiting.splice(0, KEYS_MAX);
      try {
        this.#waiting.unshift(...(await this.#answer(lookups)));
      } catch (error) {
        for (const { found } of lookups) found.reject(error);
      }
    }
    this.#isSending = false;
  }

  /** Answers lookups, and returns those that have to be made again. */
  async #answer(lookups: readonly Lookup[]): Promise<readonly Lookup[]> {
    const again: Lookup[] = [];
    const left = new Set(lookups);
    for (const row of await this.#reading.query(FIND, parametersOf(lookups))) {
      const found = row as unknown as FoundRow;
      const lookup = lookups[found[0]]!;
      left.delete(lookup);
      if (found[4] !== null) settle(lookup, found);
      else if (lookup.mayBeLeft) lookup.found.resolve(LEFT_TO_ANSWER);
      else again.push(lookup);
    }
    for (const { found } of left) found.resolve(undefined);
    return again;
  }
}

function parametersOf(lookups: readonly Lookup[]) {
  return [
    lookups.map((_, index) => index),
    lookups.map(({ entity }) => sliceOf(entity.component, entity.id)),
    lookups.map(({ entity }) => entity.component),
    lookups.map(({ entity }) => entity.id),
    lookups.map(({ key }) => key),
  ];
}

function settle({ entity, key, found }: Lookup, [, digest, timeMs, crc, outcome]: FoundRow): void {
  if (crc === replyChecksum(entity, { key, digest, timeMs }, outcome!))
    found.resolve({ key, digest, timeMs, ...outcomeOf(outcome!) });
  else found.reject(damaged(entity, key));
}

/** Returns the checksum of a stored reply. `outcome`: its outcome as it is stored. */
export function replyChecksum(
  { component, id }: EntityRef,
  { key, digest, timeMs }: Pick<StoredReply, 'key' | 'digest' | 'timeMs'>,
  outcome: string,
): number {
  return rowChecksum([component, id, key, digest, timeMs, outcome]);
}

function damaged({ component, id }: EntityRef, key: string): SvcError {
  return new SvcError(
    'SVC_JOURNAL_CORRUPT',
    `The reply of entity '${printable(id)}' of component '${printable(component)}' to the idempotency key '${printable(key)}' is ` +
      'damaged: its checksum does not fit. Restore the database from a backup; other replies are not affected.',
  );
}
