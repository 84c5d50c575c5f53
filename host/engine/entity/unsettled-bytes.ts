// UnsettledBytes: how much memory the events of one engine take that wait for the disk, the answers that are stored with
// them, and the outcomes of calls that are answered only after them. A disk that is slower than the commands would have them grow without end.
import { SvcError } from '@svc/kit/svc-error';
import type { Effect } from '../../model/call.ts';
import type { StoredEvent } from '../../model/entity.ts';
import type { EntityCall, Outcome } from './entity-call.ts';

/** What a record takes beside its text, roughly. */
const RECORD_BYTES = 128;
const BYTES_PER_UNIT = 2;
/** Settled ones that are let go of together. */
const LET_GO_AT = 1_024;

/** Bytes that the records of one command take in memory, roughly. */
export function appendBytes(events: readonly StoredEvent[], actionCount: number): number {
  let bytes = (events.length + actionCount) * RECORD_BYTES;
  for (const { json } of events) bytes += json.length * BYTES_PER_UNIT;
  return bytes;
}

/** What the answer to an idempotency key takes; that of a command without one is not stored. */
export function answerBytes({ idempotency }: EntityCall, answer: Effect | Outcome): number {
  return idempotency === undefined ? 0 : RECORD_BYTES + answerUnits(answer) * BYTES_PER_UNIT;
}

function answerUnits(answer: Effect | Outcome): number {
  if (answer.kind === 'effect') return answer.reply?.length ?? 0;
  if (answer.kind === 'reply') return answer.json.length;
  return answer.message.length + (answer.details?.length ?? 0);
}

/** What an outcome takes while it waits for the disk. */
export function outcomeBytes(outcome: Outcome): number {
  return answerUnits(outcome) * BYTES_PER_UNIT;
}

export class UnsettledBytes {
  /** Of the appends under way, in their order, which is that in which they settle. */
  #sizes: number[] = [];
  #settledCount = 0;
  #total = 0;
  #held = 0;

  get total(): number {
    return this.#total + this.#held;
  }

  /** Outcomes of so many bytes more wait for appends to settle; fewer, where the number is negative. */
  held(bytes: number): void {
    this.#held += bytes;
  }

  queued(bytes: number): void {
    this.#sizes.push(bytes);
    this.#total += bytes;
  }

  /** The oldest append has settled. Answers its bytes. */
  settled(): number {
    const bytes = this.#sizes[this.#settledCount++] ?? 0;
    this.#total -= bytes;
    if (this.#settledCount === this.#sizes.length) this.#sizes.length = 0;
    else if (this.#settledCount < LET_GO_AT) return bytes;
    else this.#sizes.splice(0, this.#settledCount);
    this.#settledCount = 0;
    return bytes;
  }
}

/** What a command fails with when so many wait. */
export function diskTooSlow(bytes: number): SvcError {
  return new SvcError(
    'SVC_OVERLOADED',
    `Events and answers of ${bytes} bytes wait for the disk. Try again later, or look after the disk.`,
  );
}
