// CallCompletion ends the calls of entities that end without an append of their own: it answers them, or fails them. One
// object serves all entities of an engine, and keeps no state of any entity.
//
// Invariants
// E1  A call whose state is lost is neither answered nor refused: a command fails with the append that was lost, and a query
//     runs again. Both fail with SVC_ENTITY_MOVED if the lease is lost.
// E2  A fault is logged and fails its call at once, even while earlier calls wait for the disk. If the lease is lost, the call
//     fails with SVC_ENTITY_MOVED instead, because the fault may come from a state that is not current.
import { GuestLost } from '@svc/model/guest-lost';
import type { EngineLimits } from '../engine-limits.ts';
import type { FaultLog } from '../needs/fault-log.ts';
import type { EntityBreaker } from './entity-breaker.ts';
import type { EntityCall, Outcome } from './entity-call.ts';
import { entityMoved } from './entity-moved.ts';
import type { EntityState } from './entity-state.ts';
import { outcomeFault } from './guest-answer.ts';
import { diskTooSlow, type UnsettledBytes } from './unsettled-bytes.ts';

/** The rest of a call that has to wait for the guest or the journal; undefined when there is none. It never rejects. */
export type Remainder = Promise<void> | undefined;

export interface CompletionNeeds {
  readonly limits: EngineLimits;
  readonly unsettled: UnsettledBytes;
  readonly faultLog: FaultLog;
  /** Counts the calls with which the process of the guest was lost. */
  readonly losses: EntityBreaker;
}

export class CallCompletion {
  readonly #needs: CompletionNeeds;

  constructor(needs: CompletionNeeds) {
    this.#needs = needs;
  }

  /** Notes that the guest has answered a call of the entity. */
  guestAnswered({ ref }: EntityState): void {
    this.#needs.losses.succeeded(ref);
  }

  /** Answers the call, now or when the appends before it have settled. */
  answer(state: EntityState, call: EntityCall, outcome: Outcome): undefined {
    if (this.discardIfLost(state, call)) return;
    const fault = outcomeFault(outcome, this.#needs.limits);
    if (fault === undefined) state.calls.hold(call, outcome);
    else this.refuse(state, call, fault);
  }

  /**
   * If the state was lost since the call began, drops it, and discards the call's result: the call fails, or is queued again if
   * it is a query. Returns whether the state was lost.
   */
  discardIfLost(state: EntityState, call: EntityCall): boolean {
    if (!state.isLost) return false;
    const { lostAppend } = state;
    if (lostAppend === undefined || !state.isHeld) call.fail(entityMoved(state.ref));
    else if (call.kind === 'query') state.calls.requeue(call);
    else call.fail(lostAppend);
    state.drop();
    return true;
  }

  /** Fails a call at which the guest has faulted, and drops the state: it cannot be relied on any more. */
  fault(state: EntityState, call: EntityCall, fault: unknown): undefined {
    const failure = state.isHeld ? fault : entityMoved(state.ref);
    state.drop();
    this.#needs.faultLog(state.ref, call.name, fault);
    call.fail(failure);
    if (!(fault instanceof GuestLost)) return;
    const { losses, faultLog } = this.#needs;
    const backedOff = losses.faulted(state.ref, fault);
    if (backedOff !== undefined) faultLog(state.ref, call.name, backedOff);
  }

  /** Logs the fault and fails the call. The state stays. */
  refuse({ ref }: EntityState, call: EntityCall, fault: unknown): undefined {
    this.#needs.faultLog(ref, call.name, fault);
    call.fail(fault);
  }

  /** Fails the call with SVC_OVERLOADED if too much waits for the disk. Returns whether it did so. */
  failIfOverloaded(state: EntityState, call: EntityCall): boolean {
    const { limits, unsettled } = this.#needs;
    if (unsettled.total < limits.unsettledBytesMax) return false;
    state.use();
    call.fail(diskTooSlow(unsettled.total));
    return true;
  }
}
