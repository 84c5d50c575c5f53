// UnsettledBytes counts the memory that waits for the disk in one engine: the events of appends, the replies that are stored
// with them, and the outcomes of calls that are answered after them (HeldCalls, DetachedAppends). So do the replies that were
// looked up for commands that have not run yet (KeyLookups). With a disk slower than the commands, this memory
// would grow without bound, so commands, and queries that would have to wait, fail above a limit (`diskTooSlow`).
import { SvcError } from '@svc/kit/svc-error';
import type { Effect } from '@svc/model/call';
import type { StoredEvent } from '@svc/model/entity';
import type { TimerWrites } from '../needs/timers.ts';
import type { EntityCall, Outcome } from './entity-call.ts';

/** Approximate bytes of a record besides its text. */
const RECORD_BYTES = 128;
const BYTES_PER_UNIT = 2;

/** Returns the bytes that the records of one command take in memory, roughly. */
export function appendBytes(events: readonly StoredEvent[], actionCount: number): number {
  let bytes = (events.length + actionCount) * RECORD_BYTES;
  for (const { json } of events) bytes += json.length * BYTES_PER_UNIT;
  return bytes;
}

/** Returns the bytes that changes of timers take in memory, roughly. */
export function timerBytes({ changes }: TimerWrites): number {
  let bytes = RECORD_BYTES;
  for (const change of changes) {
    bytes += RECORD_BYTES + change.name.length * BYTES_PER_UNIT;
    if (change.kind === 'set') bytes += change.input.length * BYTES_PER_UNIT;
  }
  return bytes;
}

/** Returns the bytes that are stored beside the records: the reply for an idempotency key, and changes of timers. */
export function besideBytes({ idempotency, timers }: EntityCall, answer: Effect | Outcome): number {
  const bytes = timers === undefined ? 0 : timerBytes(timers);
  if (idempotency === undefined) return bytes;
  return bytes + RECORD_BYTES + answerUnits(answer) * BYTES_PER_UNIT;
}

function answerUnits(answer: Effect | Outcome): number {
  if (answer.kind === 'effect') return answer.reply?.length ?? 0;
  if (answer.kind === 'reply') return answer.json.length;
  return answer.message.length + (answer.details?.length ?? 0);
}

/** Returns the bytes of an outcome that waits for the disk. */
export function outcomeBytes(outcome: Outcome): number {
  return answerUnits(outcome) * BYTES_PER_UNIT;
}

export class UnsettledBytes {
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** Adds bytes that wait for the disk. A negative number removes them. Whoever adds bytes removes the same number. */
  add(bytes: number): void {
    this.#total += bytes;
  }
}

/** Returns the failure of a call that is not executed because too many bytes wait for the disk. */
export function diskTooSlow(bytes: number): SvcError {
  return new SvcError(
    'SVC_OVERLOADED',
    `Events and answers of ${bytes} bytes wait for the disk. Try again later, or look after the disk.`,
  );
}
