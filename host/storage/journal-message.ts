// What the users of a journal and its writer thread say to each other, in flat lists of plain
// values: copying those between threads costs a fraction of what lists of objects cost.
import type { SvcErrorCode } from '../model/svc-error.ts';
import type { JournalRecord } from '../model/entity.ts';
import { lowerHalf, upperHalf } from './seed-halves.ts';

/** What the thread that opened the journal tells the writer; `connect` comes with its port. */
export type WriterCommand = { readonly kind: 'connect' } | { readonly kind: 'close' };

/** What the writer tells the thread that opened the journal. */
export type WriterReport =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly code: SvcErrorCode; readonly message: string };

/** All appends of a tick, one after the other. */
export type AppendBatch = (string | number | null)[];

/**
 * How many appends settled, in their order, and those among them that failed. The first says that
 * none has, and that what was sent through ports before is stored.
 */
export type Settlement = readonly [count: number, failures: readonly AppendFailure[]];
export type AppendFailure = readonly [index: number, code: SvcErrorCode, message: string];

/** One append as the writer takes it from a batch. */
export interface Append {
  /** How many of its user's appends the user had seen settle when it queued this one. */
  readonly seenCount: number;
  readonly component: string;
  readonly id: string;
  readonly firstSeq: number;
  /**
   * For each record its time, the halves of its seed, its manifest and json; the latter two are null
   * for a deletion.
   */
  readonly fields: AppendBatch;
}

/** Of `Append.fields`. */
export const FIELDS_PER_RECORD = 5;
/** Where in a record's fields its json stands. */
export const JSON_FIELD = 4;

export function encodeAppend(
  batch: AppendBatch,
  seenCount: number,
  component: string,
  id: string,
  records: readonly JournalRecord[],
): void {
  batch.push(seenCount, component, id, records[0]?.seq ?? 0, records.length);
  for (const record of records) {
    batch.push(record.timeMs, upperHalf(record.seed), lowerHalf(record.seed));
    if (record.kind === 'event') batch.push(record.event.manifest, record.event.json);
    else batch.push(null, null);
  }
}

export function decodeAppends(batch: AppendBatch): Append[] {
  const appends: Append[] = [];
  for (let at = 0; at < batch.length;) {
    const begin = at + 5;
    at = begin + Number(batch[at + 4]) * FIELDS_PER_RECORD;
    appends.push({
      seenCount: Number(batch[begin - 5]),
      component: String(batch[begin - 4]),
      id: String(batch[begin - 3]),
      firstSeq: Number(batch[begin - 2]),
      fields: batch.slice(begin, at),
    });
  }
  return appends;
}
