// EntityState owns the state of one live entity: the guest that holds it, and the appends that store what was decided
// on it. It also decides when the calls that depend on an append are answered. It knows nothing of the order in which
// calls arrive.
//
// Invariants
// S1  While the lease is held, the guest's state is what the journal holds plus the appends under way, or there is no guest. After a failed
//     append (`lostAppend`), the state includes records that are not stored, or of which that is unknown, until it is
//     dropped. It is read from the journal again once no append is under way: what it has by then is final.
// S2  An outcome leaves after every append that was made before it has settled, in arrival order.
// S3  What was decided on a state that may not have reached the disk is never answered: commands fail with the append, and
//     queries are queued again.
//     An outcome that has no append of its own is also answered only if the lease was held after the outcome was known. Then the
//     state was the current one at that moment, or it is when the appends before it are on disk.
// S4  While an append is under way that may be refused by itself, nothing is decided (`isAwaitingAppend`): that of a firing,
//     whose timer may be gone, and one with timers while there are too many. So no other call fails with it.
import type { EntityRef, JournalRecord } from '@svc/model/entity';
import type { SvcError } from '@svc/kit/svc-error';
import type { EngineLimits } from '../engine-limits.ts';
import type { WallClock } from '../needs/clock.ts';
import type { FaultLog } from '../needs/fault-log.ts';
import type { GuestEntity } from '@svc/model/guest';
import type { Leases } from '../needs/leases.ts';
import type { Journal } from '../needs/journal.ts';
import type { EntityCall, Outcome } from './entity-call.ts';
import type { EntityCalls } from './entity-calls.ts';
import { EntityLease } from './entity-lease.ts';
import { EntitySnapshots } from './entity-snapshots.ts';
import type { FullJournal } from './full-journal.ts';
import type { FullTimers } from './full-timers.ts';
import { replyToStore } from './idempotency.ts';
import type { Growth, SnapshotPolicy } from './snapshot-policy.ts';
import { besideBytes } from './unsettled-bytes.ts';
import type { UsePeriod, UsePeriods } from './use-periods.ts';

export interface StateNeeds {
  readonly journal: Journal;
  readonly snapshots: SnapshotPolicy;
  readonly clock: WallClock;
  readonly usePeriods: UsePeriods;
  readonly limits: Pick<EngineLimits, 'idempotencyRetentionMs'>;
  readonly faultLog: FaultLog;
  readonly fullJournal: FullJournal;
  readonly fullTimers: FullTimers;
  /** Undefined: the engine is the only writer of its journal. */
  readonly leases?: Leases | undefined;
}

/** Receives the settlement of each append. It passes the settlement on to `EntityState.settle`. */
export type AppendSettled = (failure?: SvcError) => void;

export class EntityState {
  readonly ref: EntityRef;
  /** The manifest that the component declares for its events. */
  readonly eventManifest: string;
  readonly calls: EntityCalls;
  /** Period of the entity's last call. */
  usedIn: UsePeriod;
  readonly #needs: StateNeeds;
  readonly #lease: EntityLease | undefined;
  readonly #snapshots: EntitySnapshots;
  readonly #appendSettled: AppendSettled;
  #guest: GuestEntity | undefined = undefined;
  #seq = 0;
  #appendCount = 0;
  #isAwaitingAppend = false;
  #lostAppend: SvcError | undefined = undefined;

  constructor(
    ref: EntityRef,
    eventManifest: string,
    calls: EntityCalls,
    needs: StateNeeds,
    appendSettled: AppendSettled,
  ) {
    this.ref = ref;
    this.eventManifest = eventManifest;
    this.calls = calls;
    this.usedIn = needs.usePeriods.current;
    this.#needs = needs;
    this.#lease = needs.leases && new EntityLease(ref, needs.leases);
    this.#snapshots = new EntitySnapshots(needs.snapshots, ref);
    this.#appendSettled = appendSettled;
  }

  get guest(): GuestEntity | undefined {
    return this.#guest;
  }

  /** Sequence number of the last record that was decided, on disk or not. */
  get seq(): number {
    return this.#seq;
  }

  /** The number of appends under way. */
  get appendCount(): number {
    return this.#appendCount;
  }

  /** Whether no call may be decided before the last append under way has settled. */
  get isAwaitingAppend(): boolean {
    return this.#isAwaitingAppend;
  }

  /**
   * The failure of an append whose records the guest's state includes; undefined when there is none. The state has to
   * be dropped, and no outcome that was decided on it may be answered.
   */
  get lostAppend(): SvcError | undefined {
    return this.#lostAppend;
  }

  /** Whether the engine may decide on the state, and answer from it. */
  get isHeld(): boolean {
    return this.#lease === undefined || this.#lease.isHeld;
  }

  /** Whether the state has to be dropped: its lease or an append is lost. */
  get isLost(): boolean {
    return this.#lostAppend !== undefined || !this.isHeld;
  }

  get isSnapshotDue(): boolean {
    return this.#snapshots.isDue;
  }

  /** Records that the entity is called now, and returns the time of the wall clock. */
  use(): number {
    this.usedIn = this.#needs.usePeriods.current;
    return this.#needs.clock.nowMs();
  }

  /** Takes the lease under which the state is read next. Returns false if the node holds none. */
  takeLease(): boolean {
    const taken = this.#lease?.take();
    // Another node may have stored replies since the lookups began.
    if (taken === 'other') this.calls.invalidateLookups();
    return taken !== 'none';
  }

  /** Ends the use of the state: it is lost, even if the node still has the lease. */
  endLease(): void {
    this.#lease?.end();
  }

  /** Takes a guest that has folded the journal up to the record `seq`. Call it only while no append is under way. */
  open(guest: GuestEntity, seq: number, growth: Growth): void {
    this.#guest = guest;
    this.#seq = seq;
    this.#snapshots.opened(growth);
  }

  /**
   * Queues the append of a command's records, of its reply and of its changes of timers, and holds its outcome until the append
   * has settled. The guest's state already includes the records. `bytes`: memory that the records take, roughly.
   */
  append(
    call: EntityCall,
    outcome: Outcome,
    records: readonly JournalRecord[],
    nowMs: number,
    bytes: number,
  ): undefined {
    const { journal, limits, fullTimers } = this.#needs;
    this.#seq += records.length;
    this.#snapshots.grew(records.length, bytes);
    this.#appendCount++;
    this.#isAwaitingAppend = call.firing !== undefined || fullTimers.mayRefuse(call.timers);
    call.heldForOwnAppend = true;
    call.appendBytes = bytes + besideBytes(call, outcome);
    call.eventsPersisted = records.length;
    this.calls.hold(call, outcome);
    const reply = replyToStore(call, outcome, nowMs, limits.idempotencyRetentionMs);
    const { timers } = call;
    const beside = reply === undefined && timers === undefined ? undefined : { reply, timers };
    journal.append(this.ref, records, this.#appendSettled, beside);
  }

  /**
   * Called when the oldest append has settled. If it is on disk, answers the calls that waited for it. If it has
   * failed, or its outcome is unknown, the state is lost: fails all commands that wait for an append, and holds the queries
   * until `drop` queues them again. The appends behind the failed one fail as well, and find no call left.
   */
  settle(failure: SvcError | undefined): void {
    const { fullJournal, fullTimers } = this.#needs;
    this.#appendCount--;
    if (this.#appendCount === 0) this.#isAwaitingAppend = false;
    if (failure === undefined) {
      this.#snapshots.settled();
      this.calls.release();
      return;
    }
    const bytes = this.calls.loseHeld(failure);
    if (bytes > 0) fullJournal.failed(bytes, failure);
    fullTimers.failed(failure);
    this.#lostAppend = failure;
  }

  /** Takes the snapshot that is due. Returns a promise if the guest answers later. */
  takeSnapshot(guest: GuestEntity): Promise<void> | undefined {
    return this.#snapshots.take(guest, this.#seq, (isTaken) => {
      if (this.isLost || !isTaken) this.drop();
      else this.#snapshots.awaitAppends(this.#appendCount);
    });
  }

  /** Drops the state. Queries that were decided on a lost append are queued again. */
  drop(): void {
    const guest = this.#guest;
    this.#guest = undefined;
    this.#lostAppend = undefined;
    this.calls.queueLost();
    this.#snapshots.dropped();
    if (guest !== undefined) this.#close(guest);
  }

  /** Closes the guest, after taking a snapshot if one is worthwhile. Call it only while no append is under way. */
  close(): void {
    const guest = this.#guest;
    this.#guest = undefined;
    if (guest !== undefined) this.#snapshots.close(guest, this.#seq, () => this.#close(guest));
  }

  #close(guest: GuestEntity): void {
    try {
      guest.close();
    } catch (fault) {
      this.#needs.faultLog(this.ref, undefined, fault);
    }
  }
}
