// HeldCalls owns the calls of one entity whose outcome is known and waits for the disk, in arrival order. The first call waits
// for its own append. Calls without an append of their own wait for the append before them.
//
// Invariant: a held call counts among the unsettled bytes of the engine, with its outcome and with its own append. After a
// failed append the appends of all held calls count no more, although the later ones have not settled: the journal fails
// them too, and the entity queues no other append until it has.
import assert from 'node:assert';
import type { EntityCall, Outcome } from './entity-call.ts';
import { outcomeBytes, type UnsettledBytes } from './unsettled-bytes.ts';

export class HeldCalls {
  readonly #unsettled: UnsettledBytes;
  #calls: EntityCall[] = [];

  constructor(unsettled: UnsettledBytes) {
    this.#unsettled = unsettled;
  }

  get length(): number {
    return this.#calls.length;
  }

  /** Answers the call, now or when the appends before it have settled. */
  hold(call: EntityCall, outcome: Outcome): void {
    if (!this.mustWait(call)) {
      call.answer(outcome);
      return;
    }
    call.heldOutcome = outcome;
    this.#calls.push(call);
    this.#unsettled.add(call.appendBytes + outcomeBytes(outcome));
  }

  /** Whether an append has to settle before the call may be answered. */
  mustWait(call: EntityCall): boolean {
    return this.#calls.length > 0 || call.heldForOwnAppend;
  }

  /** Answers the call whose append has settled, and the calls behind it that have no append of their own. */
  release(): void {
    let count = 0;
    do {
      const call = this.#calls[count++];
      assert(call?.heldOutcome !== undefined);
      this.#unsettled.add(-call.appendBytes - outcomeBytes(call.heldOutcome));
      call.answer(call.heldOutcome);
    } while (this.#calls[count]?.heldForOwnAppend === false);
    this.#calls.splice(0, count);
  }

  /** Removes and returns all calls, because the append of the first one has failed. */
  takeAll(): readonly EntityCall[] {
    const calls = this.#calls;
    this.#calls = [];
    for (const { heldOutcome, appendBytes } of calls)
      if (heldOutcome !== undefined) this.#unsettled.add(-appendBytes - outcomeBytes(heldOutcome));
    return calls;
  }

  /**
   * Returns the outcome of the command with this idempotency key, if its append is under way. A command that was
   * answered with an earlier reply, or refused because its key belongs to another input, has no append of its own.
   */
  speculative(key: string): { readonly digest: string; readonly outcome: Outcome } | undefined {
    for (const { idempotency, heldOutcome, heldForOwnAppend } of this.#calls)
      if (heldForOwnAppend && idempotency?.key === key && heldOutcome !== undefined)
        return { digest: idempotency.digest, outcome: heldOutcome };
    return undefined;
  }
}
