// LiveEntity owns one entity in memory, and decides when each of its calls runs: it loads the state, runs the calls
// one by one, and yields to the event loop. CallExecution runs a call; EntityState owns the state.
//
// Invariants
// I1  Calls reach the guest one at a time, in arrival order.
// I2  The journal is replayed only while no append is under way.
// I3  A firing runs while no append is under way, and no call runs before an append has settled that the journal may refuse
//     by itself, such as that of a firing (EntityState).
// I4  A state is read and used under one lease (EntityLease).
// I5  While no call and no append is under way, an entity with a guest is in the idle list, and an entity without a
//     guest has left memory.
import assert from 'node:assert';
import { GuestLost } from '@svc/model/guest-lost';
import type { EntityRef } from '@svc/model/entity';
import type { SvcError } from '@svc/kit/svc-error';
import type { EntityCall } from './entity-call.ts';
import { EntityCalls } from './entity-calls.ts';
import type { EntityDependencies } from './entity-dependencies.ts';
import { entityMoved } from './entity-moved.ts';
import { EntityState } from './entity-state.ts';
import type { Idler } from './idle-list.ts';
import { replay } from './replay.ts';
import { stopping } from './stopping.ts';
import type { UsePeriod } from './use-periods.ts';

/** How long an entity runs its queued calls before it yields to the event loop, in milliseconds. */
const SLICE_MS = 10;

export class LiveEntity implements Idler {
  idleBefore: Idler | undefined = undefined;
  idleAfter: Idler | undefined = undefined;
  readonly #needs: EntityDependencies<LiveEntity>;
  readonly #calls: EntityCalls;
  readonly #state: EntityState;
  /** True while a replay, a snapshot or a call of the guest is under way, or the entity yields to the event loop. */
  #isWorking = false;

  constructor(ref: EntityRef, eventManifest: string, needs: EntityDependencies<LiveEntity>) {
    this.#needs = needs;
    this.#calls = new EntityCalls(ref, needs);
    this.#state = new EntityState(ref, eventManifest, this.#calls, needs, (failure) =>
      this.#appendSettled(failure),
    );
  }

  get ref(): EntityRef {
    return this.#state.ref;
  }

  /** Sequence number of its last record, on disk or not. */
  get seq(): number {
    return this.#state.seq;
  }

  /** Period of its last call. */
  get usedIn(): UsePeriod {
    return this.#state.usedIn;
  }

  /** Whether nothing is under way, so that the entity may be closed. */
  get isIdle(): boolean {
    return !this.#calls.isQueued && this.#state.appendCount === 0 && !this.#isWorking;
  }

  /** Runs the call at once if the entity is not working; else queues it. Throws SVC_OVERLOADED. */
  submit(call: EntityCall): void {
    this.#calls.enter(call);
    if (!this.#isWorking) this.#work();
  }

  /** Closes the guest. Call it only while the entity is idle. */
  close(): void {
    assert(this.isIdle);
    this.#state.close();
  }

  /**
   * Drops the state: nothing more is decided on it, or answered from it. Calls that wait for the guest fail with SVC_ENTITY_MOVED,
   * and so does the one that the guest is executing, once it returns. Appends under way settle, and answer their calls.
   */
  drop(): void {
    this.#state.endLease();
    this.#calls.failQueued(entityMoved(this.ref));
    if (!this.#isWorking) this.#work();
  }

  #appendSettled(failure: SvcError | undefined): void {
    this.#state.settle(failure);
    if (!this.#isWorking) this.#work();
  }

  /** Runs the queued calls, and takes a due snapshot, as far as that goes without waiting, for SLICE_MS at most. */
  #work(): void {
    this.#isWorking = true;
    const state = this.#state;
    const { clock, execution } = this.#needs;
    let sinceMs: number | undefined;
    // An append has failed, or the lease has ended, since the last call of the guest returned.
    if (state.isLost) state.drop();
    if (this.#needs.foldBudget.isCancelled) this.#calls.failQueued(stopping());
    while (this.#calls.isQueued || state.isSnapshotDue) {
      const { guest } = state;
      if (guest?.lost === true) {
        state.drop();
        continue;
      }
      if (guest === undefined) {
        if (!state.takeLease()) {
          this.#calls.failQueued(entityMoved(this.ref));
          continue;
        }
        if (state.appendCount > 0) break; // I2: #appendSettled calls #work after the last append.
        void this.#activate();
        return;
      }
      // I3: #appendSettled calls #work after each append.
      if (state.isAwaitingAppend || (state.appendCount > 0 && this.#calls.isFiringNext)) break;
      const call = state.isSnapshotDue ? undefined : this.#calls.next();
      // A call behind which no other one waits needs no look at the clock.
      if (this.#calls.isQueued) sinceMs ??= clock.monotonicMs();
      const remainder =
        call === undefined ? state.takeSnapshot(guest) : execution.run(state, guest, call);
      if (remainder !== undefined) {
        this.#workAfter(remainder);
        return;
      }
      if (!this.#calls.isQueued || sinceMs === undefined) continue;
      if (clock.monotonicMs() - sinceMs < SLICE_MS) continue;
      this.#workAfter(this.#needs.eventLoop.yield());
      return;
    }
    this.#isWorking = false;
    this.#rest();
  }

  #workAfter(done: Promise<void>): void {
    this.#needs.busy(this);
    void done.then(() => this.#work());
  }

  /** Called when there is nothing to do before the next call or settlement. */
  #rest(): void {
    if (!this.isIdle) this.#needs.busy(this);
    else if (this.#state.guest === undefined) this.#needs.gone(this);
    else this.#needs.idle(this);
  }

  /** Loads the state into memory, and continues. If the state cannot be loaded, the queued calls fail. */
  async #activate(): Promise<void> {
    this.#needs.busy(this);
    // The lookups and the replay wait for the journal together. No append is under way (I2).
    this.#calls.renewLookups();
    const { ref } = this;
    const { breaker } = this.#needs;
    try {
      const replayed = await replay(this.#needs, ref, breaker.hasFaulted(ref));
      if (replayed.kind === 'folded') {
        breaker.succeeded(ref);
        this.#state.open(replayed.guest, replayed.seq, replayed.growth);
      } else if (this.#state.isHeld)
        this.#failedToFold(replayed.fault, breaker.faulted(ref, replayed.fault));
    } catch (failure) {
      // A fold that was cancelled, or during which another node may have written, says nothing about the entity. It is not logged.
      if (this.#needs.foldBudget.isCancelled) this.#calls.failQueued(failure);
      else if (this.#state.isHeld)
        this.#failedToFold(
          failure,
          failure instanceof GuestLost ? breaker.faulted(ref, failure) : undefined,
        );
    }
    this.#work();
  }

  /** `backedOff`: the error for the log if the entity backs off from now on; undefined if it does not. */
  #failedToFold(failure: unknown, backedOff: SvcError | undefined): void {
    const { faultLog } = this.#needs;
    faultLog(this.ref, undefined, failure);
    if (backedOff !== undefined) faultLog(this.ref, undefined, backedOff);
    this.#calls.failQueued(failure);
  }
}
