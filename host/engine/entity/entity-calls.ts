// EntityCalls owns the calls of one live entity, in arrival order: calls that wait for the guest, calls whose outcome waits for
// the disk, and queries that have to run again because the state that they saw may not have reached the disk.
//
// Invariant: queries that run again come before every call that arrived later.
import assert from 'node:assert';
import { SvcError } from '@svc/kit/svc-error';
import type { EntityRef } from '@svc/model/entity';
import type { EngineLimits } from '../engine-limits.ts';
import type { EntityCall, Outcome } from './entity-call.ts';
import { HeldCalls } from './held-calls.ts';
import { entityName } from './history.ts';
import { KeyLookups, type LookupNeeds } from './key-lookups.ts';

export interface CallsNeeds extends LookupNeeds {
  readonly limits: Pick<EngineLimits, 'callsPerEntityMax' | 'unsettledBytesMax'>;
}

export class EntityCalls {
  readonly #ref: EntityRef;
  readonly #needs: CallsNeeds;
  /** Undefined before the first command with an idempotency key, and if the journal looks no keys up ahead. */
  #lookups: KeyLookups | undefined = undefined;
  /** Calls that did not reach the guest yet, or have to run again. */
  #queue: EntityCall[] = [];
  /** Calls whose outcome waits for the disk. */
  readonly #held: HeldCalls;
  /** Queries that were held on a failed append. */
  #lost: EntityCall[] = [];

  constructor(ref: EntityRef, needs: CallsNeeds) {
    this.#ref = ref;
    this.#needs = needs;
    this.#held = new HeldCalls(needs.unsettled);
  }

  /** Whether a call waits for the guest. */
  get isQueued(): boolean {
    return this.#queue.length > 0;
  }

  /** Whether the oldest queued call is a firing. */
  get isFiringNext(): boolean {
    return this.#queue[0]?.firing !== undefined;
  }

  /** Queues a call, and begins to look its idempotency key up if the journal can do so ahead. Throws SVC_OVERLOADED. */
  enter(call: EntityCall): void {
    const waiting = this.#queue.length + this.#held.length;
    if (waiting >= this.#needs.limits.callsPerEntityMax)
      throw new SvcError(
        'SVC_OVERLOADED',
        `${waiting} calls wait for ${entityName(this.#ref)}. ` +
          'Try again later, or spread the work over more entities.',
      );
    if (call.idempotency !== undefined && this.#needs.journal.lookAhead !== undefined) {
      this.#lookups ??= new KeyLookups(this.#ref, this.#needs);
      call.lookup = this.#lookups.enter(call.idempotency.key);
    }
    this.#queue.push(call);
  }

  /** Takes the oldest queued call; there must be one. */
  next(): EntityCall {
    const call = this.#queue.shift();
    assert(call !== undefined);
    return call;
  }

  /** Puts a call that `next` returned at the front of the queue. */
  requeue(call: EntityCall): void {
    this.#queue.unshift(call);
  }

  /** Fails all queued calls. */
  failQueued(failure: unknown): void {
    const calls = this.#queue;
    this.#queue = [];
    for (const call of calls) call.fail(failure);
  }

  /** Answers the call, now or when the appends before it have settled. */
  hold(call: EntityCall, outcome: Outcome): void {
    this.#held.hold(call, outcome);
  }

  /** Whether an append has to settle before the call may be answered. */
  mustWait(call: EntityCall): boolean {
    return this.#held.mustWait(call);
  }

  /** The speculative outcome of the command with this idempotency key, if its append is under way. */
  speculative(key: string): ReturnType<HeldCalls['speculative']> {
    return this.#held.speculative(key);
  }

  /** Answers the calls that waited for the oldest append, which has settled. */
  release(): void {
    this.#held.release();
  }

  /**
   * After a failed append: fails the commands that were held, and keeps the queries for `queueLost`. Returns the bytes of the
   * append; 0 if one before it has failed.
   */
  loseHeld(failure: SvcError): number {
    this.invalidateLookups();
    const calls = this.#held.takeAll();
    for (const call of calls)
      if (call.kind === 'command') call.fail(failure);
      else this.#lost.push(call);
    return calls[0]?.appendBytes ?? 0;
  }

  /** Replies to the keys that were looked up may have been stored since: `renewLookups` repeats these lookups. */
  invalidateLookups(): void {
    this.#lookups?.invalidate();
  }

  /** Repeats the lookups of queued commands that were invalidated. Call it when no append is under way. */
  renewLookups(): void {
    if (this.#lookups !== undefined) for (const call of this.#queue) call.lookup?.renew();
  }

  /** Queues the queries that were held on a failed append before all other calls. */
  queueLost(): void {
    if (this.#lost.length > 0) this.#queue.unshift(...this.#lost.splice(0));
  }
}
