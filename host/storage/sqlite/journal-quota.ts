// JournalQuota bounds the size of a journal. The writer asks it in the transaction, before it stores an append.
// JournalQuota measures the journal only when the appends since the last measurement may have used up what was left, so
// that most appends need no measurement.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { TimerToStore } from '../../engine/needs/timers.ts';
import { SvcError } from '@svc/kit/svc-error';
import { type Append, FIELDS_PER_RECORD, JSON_FIELD } from './journal-message.ts';

/**
 * Upper bound of the bytes that a row and its index entries take in addition to their texts, including pages that are
 * split.
 */
const RECORD_BYTES = 512;
/** Upper bound of the unused bytes that a record leaves in a page; also bounded by the record's own size. */
const UNUSED_BYTES_MAX = 4_096;
/** Maximum number of bytes that a UTF-16 unit takes in UTF-8. */
const BYTES_PER_UNIT_MAX = 3;

export class JournalQuota {
  readonly #bytesMax: number;
  readonly #path: string;
  readonly #pageCount: StatementSync;
  readonly #freeCount: StatementSync;
  readonly #pageBytes: number;
  /** Lower bound of the bytes that are left. */
  #leftBytes = 0;

  /** `bytesMax` is the limit in bytes; 0 means no limit. Throws errors of SQLite. */
  constructor(database: DatabaseSync, path: string, bytesMax: number) {
    this.#path = path;
    this.#bytesMax = bytesMax === 0 ? Infinity : bytesMax;
    this.#pageCount = database.prepare('PRAGMA page_count');
    this.#freeCount = database.prepare('PRAGMA freelist_count');
    this.#pageBytes = Number(database.prepare('PRAGMA page_size').get()?.['page_size']);
  }

  /**
   * Returns the error for an append that does not fit; undefined if it fits, and then its bytes are counted.
   * `indexRecords`: writes the index entries of the transaction so far. It is called before the journal is measured.
   */
  refusalOf(append: Append, indexRecords: () => void): SvcError | undefined {
    const bytesAtMost = sizeOf(append, utf8BytesAtMost);
    if (bytesAtMost > this.#leftBytes) {
      indexRecords();
      this.#leftBytes = this.#bytesMax - this.measuredBytes();
      const bytes = sizeOf(append, utf8Bytes);
      if (bytes > this.#leftBytes) return this.#full(bytes);
    }
    this.#leftBytes -= bytesAtMost;
    return undefined;
  }

  /** Returns the size in bytes, with the open transaction, and without the free pages that removed replies left. */
  measuredBytes(): number {
    const pages =
      Number(this.#pageCount.get()?.['page_count']) -
      Number(this.#freeCount.get()?.['freelist_count']);
    return pages * this.#pageBytes;
  }

  #full(bytes: number): SvcError {
    return new SvcError(
      'SVC_JOURNAL_FULL',
      `The journal ${this.#path} may take ${this.#bytesMax} bytes and has ${this.measuredBytes()}, so ` +
        `a command that would add up to ${bytes} was not done. Raise svc.journal.bytes-max if the disk has space.`,
    );
  }
}

/** Returns an upper bound of the bytes that the append adds. `bytesOf` returns the size of a text in bytes. */
function sizeOf(
  { component, id, key, trace, by, answer, timers, fields }: Append,
  bytesOf: (text: string) => number,
): number {
  // The entity may be new, with a row and an entry in the index of entities.
  let bytes = RECORD_BYTES + 2 * (bytesOf(component) + bytesOf(id));
  const originBytes = bytesOf(key ?? '') + (trace?.length ?? 0);
  if (answer !== undefined)
    bytes += RECORD_BYTES + storedBytes(bytesOf(answer.outcome) + 2 * originBytes);
  for (const change of timers?.changes ?? [])
    if (change.kind === 'set')
      bytes +=
        RECORD_BYTES +
        storedBytes(timerTexts(change).reduce((sum, text) => sum + bytesOf(text), 0));
  if (timers?.firing !== undefined && 'fault' in timers.firing.end)
    bytes += storedBytes(bytesOf(timers.firing.end.fault));
  for (let at = 0; at < fields.length; at += FIELDS_PER_RECORD) {
    bytes += RECORD_BYTES + originBytes + bytesOf(by ?? '');
    const json = fields[at + JSON_FIELD];
    if (typeof json !== 'string') continue;
    bytes += storedBytes(bytesOf(json));
  }
  return bytes;
}

/** Returns the texts of a timer that is stored, its name twice, as its index has it too. */
function timerTexts(timer: TimerToStore): readonly string[] {
  const { name, target, command, input, due, traceParent = '' } = timer;
  const schedule = due.kind === 'at' ? '' : JSON.stringify(due);
  return [name, name, target.component, target.id, command, input, schedule, traceParent];
}

/** Returns the bytes of a text together with the unused bytes that its row may leave in a page. */
function storedBytes(bytes: number): number {
  return bytes + Math.min(bytes, UNUSED_BYTES_MAX);
}

function utf8BytesAtMost(text: string): number {
  return text.length * BYTES_PER_UNIT_MAX;
}

function utf8Bytes(text: string): number {
  return Buffer.byteLength(text);
}
