// Messages to and from the writer thread of a journal: those of the thread that opened the journal, and those of its
// users, which are the threads attached to it. Appends are flat lists of plain values, because copying such lists
// between threads costs much less than copying lists of objects.
import type { Snapshot, StoredBeside } from '../../engine/needs/journal.ts';
import type { EntityRef, JournalRecord } from '@svc/model/entity';
import type { SvcErrorCode } from '@svc/kit/svc-error';
import { outcomeText } from '../outcome-text.ts';
import type { WritingModule } from '../journal-contents.ts';
import { kindNumberOf } from './record-kind.ts';
import {
  type AppendedTimers,
  decodeTimers,
  encodeTimers,
  timerFieldCount,
} from './timer-message.ts';
import type { ConsumerRequest } from './consumer-requests.ts';
import type { TimerRequest } from './timer-requests.ts';
import { lowerHalf, upperHalf } from './seed-halves.ts';

/** Sent to the writer by the thread that opened the journal, `open` first. `connect` comes with the user's port. */
export type WriterCommand =
  /** Answered with `ready` or `failed`. */
  | { readonly kind: 'open' }
  | { readonly kind: 'connect' }
  | { readonly kind: 'note-module'; readonly module: WritingModule }
  /** Answered with a report of the same `number`. */
  | {
      readonly kind: 'request';
      readonly number: number;
      readonly request: TimerRequest | ConsumerRequest;
    }
  | { readonly kind: 'close' };

/** Sent by the writer to the thread that opened the journal. */
export type WriterReport =
  /** `hasTimers`: whether there may be timers. */
  | { readonly kind: 'ready'; readonly hasTimers: boolean }
  | { readonly kind: 'failed'; readonly code: SvcErrorCode; readonly message: string }
  | RequestAnswered;

/** The answer to `request`: whether something has changed, or why nothing has. */
export interface RequestAnswered {
  readonly kind: 'request-answered';
  readonly number: number;
  readonly outcome: boolean | { readonly code: SvcErrorCode; readonly message: string };
}

/** Sent by a user to the writer: batches of appends, and single snapshots. */
export type FromUser = AppendBatch | SentSnapshot;

/** All appends of a tick, one after the other, each in the form of `encodeAppend`. */
export type AppendBatch = (string | number | null)[];

export type SentSnapshot = EntityRef & Snapshot;

/**
 * The number of appends that settled, in the order in which they were sent, and those that failed. The first settlement
 * of a user has the number 0, and means that everything sent through earlier ports is stored or has failed.
 * `index` says which of the settled appends failed, from 0.
 */
export type Settlement = readonly [count: number, failures: readonly AppendFailure[]];
export type AppendFailure = readonly [index: number, code: SvcErrorCode, message: string];

/** An append as the writer decodes it from a batch. */
export interface Append {
  /** The number of its own appends that the user had seen settle when it queued this one. */
  readonly seenCount: number;
  readonly component: string;
  readonly id: string;
  /** `seq` of the first record; 0 where there are no records. */
  readonly firstSeq: number;
  /** Trace id of the command that made the records; null if there is none, or no record. */
  readonly trace: string | null;
  /** Idempotency key of the command; null if it has none. */
  readonly key: string | null;
  /** Author of the command (contract/author.ts); null if it has none, or there is no record. */
  readonly by: string | null;
  /** The reply to store; undefined if there is none, as without an idempotency key. */
  readonly answer: AppendedReply | undefined;
  /** The changes of timers; undefined: there are none, unless the append deletes its entity. */
  readonly timers: AppendedTimers | undefined;
  /**
   * For each record, in this order: the number of its kind (record-kind.ts), its time in milliseconds since 1970, the
   * two halves of its seed, its manifest and its JSON text. The last two are null for a deletion.
   */
  readonly fields: AppendBatch;
}

export interface AppendedReply {
  readonly key: string;
  readonly digest: string;
  readonly timeMs: number;
  /** JSON text, in the form of stored-reply-row.ts. */
  readonly outcome: string;
  /** Replies that are older have expired, in milliseconds. */
  readonly retentionMs: number;
}

/** The number of an append's elements before the fields of its records. */
const HEAD_FIELDS = 13;
/** The number of elements of `Append.fields` for each record. */
export const FIELDS_PER_RECORD = 6;
/** The index of a record's time, in milliseconds, among its fields. */
export const TIME_FIELD = 1;
/** The index of a record's JSON text among its fields. */
export const JSON_FIELD = 5;

/**
 * Adds an append to the batch: HEAD_FIELDS elements, FIELDS_PER_RECORD elements for each record, and those of its timers,
 * whose number is the last element of the head.
 */
export function encodeAppend(
  batch: AppendBatch,
  seenCount: number,
  { component, id }: EntityRef,
  records: readonly JournalRecord[],
  beside: StoredBeside,
): void {
  const answer = beside.reply;
  const first = records[0];
  batch.push(seenCount, component, id, first?.seq ?? 0, records.length);
  batch.push(first?.trace ?? null, first?.key ?? null);
  if (answer === undefined) batch.push(null, null, null, null);
  else {
    const { digest, timeMs, retentionMs } = answer;
    batch.push(digest, timeMs, outcomeText(answer), retentionMs);
    // The key of the reply, because there may be no record to take it from.
    batch[batch.length - 5] = answer.key;
  }
  batch.push(first?.by ?? null);
  const timerFields = timerFieldCount(beside);
  batch.push(timerFields);
  for (const record of records) {
    batch.push(kindNumberOf(record.kind), record.timeMs);
    batch.push(upperHalf(record.seed), lowerHalf(record.seed));
    if (record.kind === 'event') batch.push(record.event.manifest, record.event.json);
    else batch.push(null, null);
  }
  if (timerFields > 0) encodeTimers(batch, beside);
}

export function decodeAppends(batch: AppendBatch): Append[] {
  const appends: Append[] = [];
  for (let at = 0; at < batch.length;) {
    const head = at;
    const begin = head + HEAD_FIELDS;
    const end = begin + Number(batch[head + 4]) * FIELDS_PER_RECORD;
    const timerFields = Number(batch[head + 12]);
    at = end + timerFields;
    const key = batch[head + 6] as string | null;
    appends.push({
      seenCount: Number(batch[head]),
      component: String(batch[head + 1]),
      id: String(batch[head + 2]),
      firstSeq: Number(batch[head + 3]),
      trace: batch[head + 5] as string | null,
      key,
      by: batch[head + 11] as string | null,
      answer: batch[head + 7] === null ? undefined : answerAt(batch, head + 7, String(key)),
      timers: decodeTimers(batch, end, timerFields),
      fields: batch.slice(begin, end),
    });
  }
  return appends;
}

function answerAt(batch: AppendBatch, at: number, key: string): AppendedReply {
  return {
    key,
    digest: String(batch[at]),
    timeMs: Number(batch[at + 1]),
    outcome: String(batch[at + 2]),
    retentionMs: Number(batch[at + 3]),
  };
}
