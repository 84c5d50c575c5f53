// UnsettledBytes: how much memory the events of one engine take that wait for the disk. A disk that is
// slower than the commands would have them grow without end.
import type { JournalRecord } from '../../model/entity.ts';

/** What a record takes beside its text, roughly. */
const RECORD_BYTES = 128;
const BYTES_PER_UNIT = 2;
/** Settled ones that are let go of together. */
const LET_GO_AT = 1_024;

export class UnsettledBytes {
  /** Of the appends under way, in their order, which is that in which they settle. */
  #sizes: number[] = [];
  #settledCount = 0;
  #total = 0;

  get total(): number {
    return this.#total;
  }

  queued(records: readonly JournalRecord[]): void {
    let bytes = records.length * RECORD_BYTES;
    for (const record of records)
      if (record.kind === 'event') bytes += record.event.json.length * BYTES_PER_UNIT;
    this.#sizes.push(bytes);
    this.#total += bytes;
  }

  /** The oldest append has settled. */
  settled(): void {
    this.#total -= this.#sizes[this.#settledCount++] ?? 0;
    if (this.#settledCount === this.#sizes.length) this.#sizes.length = 0;
    else if (this.#settledCount < LET_GO_AT) return;
    else this.#sizes.splice(0, this.#settledCount);
    this.#settledCount = 0;
  }
}
