// AppendOutcomes are the outcomes of the appends of a group, as far as they are decided.
//
// Invariant: an append that was queued behind a failed one of its entity fails with it. Detached appends fail alone.
import { SvcError } from '@svc/kit/svc-error';
import type { GroupedAppend } from './group-transaction.ts';

export interface QueuedAppend extends GroupedAppend {
  /** A detached append gets another slice each time that it is sent. */
  slice: number;
  /** The acquisition by which the node owned the slice when the append was queued; undefined: it did not own it. */
  readonly acquisition: number | undefined;
  readonly settled: (failure?: SvcError) => void;
}

export class AppendOutcomes {
  readonly #appends: readonly QueuedAppend[];
  /** A failure, or undefined if the append is on disk. */
  readonly #decided = new Map<QueuedAppend, SvcError | undefined>();

  /** `appends`: those of the group, in the order in which they were queued. */
  constructor(appends: readonly QueuedAppend[]) {
    this.#appends = appends;
  }

  /** Returns those of the appends that are not decided yet. */
  undecided(appends: readonly QueuedAppend[] = this.#appends): readonly QueuedAppend[] {
    return appends.filter((append) => !this.#decided.has(append));
  }

  /** Returns why an append is not stored; undefined: it is, or this is not decided yet. */
  failureOf(append: QueuedAppend): SvcError | undefined {
    return this.#decided.get(append);
  }

  stored(append: QueuedAppend): void {
    this.#decided.set(append, undefined);
  }

  /** Fails an append, and those of its entity behind it. */
  fail(failed: QueuedAppend, failure: SvcError): void {
    this.#decided.set(failed, failure);
    if (!isOfEntity(failed)) return;
    const name = nameOf(failed);
    for (const append of this.undecided(this.#appends.slice(this.#appends.indexOf(failed) + 1)))
      if (isOfEntity(append) && nameOf(append) === name)
        this.#decided.set(append, failureBehind(append, failure));
  }

  /** Fails those of the appends that are not decided yet, each for the same reason. */
  failAll(appends: readonly QueuedAppend[], failure: SvcError): void {
    for (const append of this.undecided(appends)) this.#decided.set(append, failure);
  }

  /** Fails the appends whose records do not follow those of an earlier append of the same entity. */
  failHoles(): void {
    const last = new Map<string, number>();
    for (const append of this.#appends) {
      const first = append.records[0];
      if (first === undefined || this.#decided.has(append)) continue;
      const name = nameOf(append);
      const before = last.get(name);
      if (before !== undefined && first.seq !== before + 1) this.fail(append, doesNotFollow());
      else last.set(name, first.seq + append.records.length - 1);
    }
  }
}

/** Returns the name of the entity of an append, which no other entity has. */
export function nameOf({ entity: { component, id } }: QueuedAppend): string {
  return `${component}\n${id}`;
}

/** Whether appends of the entity that are behind this one depend on it. */
export function isOfEntity({ beside }: QueuedAppend): boolean {
  return beside.isDetached !== true;
}

export function doesNotFollow(): SvcError {
  return unavailable('its records do not follow the last one of its entity');
}

/** Failure of an append that was queued behind a failed one of its entity. */
export function failureBehind(append: QueuedAppend, failure: SvcError): SvcError {
  return failure.code === 'SVC_ENTITY_MOVED'
    ? sliceMoved(append)
    : unavailable('one before it was not stored');
}

export function lostBeforeStored(shown: string): SvcError {
  return unavailable(`the connection to ${shown} was lost before it was stored`);
}

function unavailable(why: string): SvcError {
  return new SvcError('SVC_JOURNAL_UNAVAILABLE', `The write was not stored: ${why}. Try again.`);
}

/** Failure of an append whose slice this node does not own any more. */
export function sliceMoved({ slice }: QueuedAppend): SvcError {
  return new SvcError(
    'SVC_ENTITY_MOVED',
    `The write was not stored: this node does not own slice ${slice} of the journal any more. Try again: the call goes to the ` +
      'node that owns it.',
  );
}

export function uncertain(cause: unknown, shown: string): SvcError {
  return new SvcError(
    'SVC_CALL_UNCERTAIN',
    `The connection to ${shown} was lost while the write was stored, and its outcome could not be found out. Repeat the ` +
      'command with its idempotency key.',
    { cause },
  );
}
