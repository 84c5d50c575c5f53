// EntitySnapshots takes the snapshots of one live entity: it knows how much the entity has grown since its last snapshot, and
// holds the snapshot of a state that is not on disk yet. EntityState reports what happens to the state, in order.
//
// Invariant: a snapshot is stored only after all records of its state are on disk. The snapshot of a lost state is dropped.
import type { EntityRef } from '@svc/model/entity';
import type { GuestEntity } from '@svc/model/guest';
import type { Growth, SnapshotPolicy } from './snapshot-policy.ts';

/** A snapshot of a state whose last appends are under way. */
interface Taken {
  readonly seq: number;
  readonly state: string;
  /** The number of appends that have to settle before the snapshot may be stored. */
  appendsLeft: number;
}

export class EntitySnapshots {
  readonly #policy: SnapshotPolicy;
  readonly #ref: EntityRef;
  #growth: Growth | undefined = undefined;
  #taken: Taken | undefined = undefined;

  constructor(policy: SnapshotPolicy, ref: EntityRef) {
    this.#policy = policy;
    this.#ref = ref;
  }

  /** Called when the entity was loaded into memory. */
  opened(growth: Growth): void {
    this.#growth = growth;
    // No snapshot is due while the last one counts as infinitely large.
    if (this.#policy.isTooLarge(this.#ref)) growth.stateBytes = Infinity;
  }

  /** Called when records were folded into the state and appended. `bytes`: see appendBytes. */
  grew(records: number, bytes: number): void {
    if (this.#growth === undefined) return;
    this.#growth.events += records;
    this.#growth.bytes += bytes;
  }

  /** Called when the state was dropped. */
  dropped(): void {
    this.#growth = undefined;
    this.#taken = undefined;
  }

  get isDue(): boolean {
    return this.#growth !== undefined && this.#policy.isDue(this.#ref, this.#growth);
  }

  /**
   * Takes a snapshot, and then calls `done`: with false when the guest has faulted, else with true, after which `awaitAppends`
   * has to be called. Returns a promise if the guest answers later.
   */
  take(
    guest: GuestEntity,
    seq: number,
    done: (isTaken: boolean) => void,
  ): Promise<void> | undefined {
    try {
      const state = guest.snapshot();
      if (state instanceof Promise)
        return state.then(
          // oxlint-disable promise/no-callback-in-promise -- the caller waits for it
          (later) => done(this.#took(seq, later)),
          (fault: unknown) => done(this.#failed(fault, false)),
          // oxlint-enable promise/no-callback-in-promise
        );
      done(this.#took(seq, state));
    } catch (fault) {
      done(this.#failed(fault, true));
    }
    return undefined;
  }

  /** Stores the snapshot once `count` appends, which are all that are under way, have settled. */
  awaitAppends(count: number): void {
    if (this.#taken === undefined) return;
    this.#taken.appendsLeft = count;
    if (count === 0) this.#keep(this.#taken);
  }

  /** Called when the oldest append is on disk. */
  settled(): void {
    const taken = this.#taken;
    if (taken !== undefined && --taken.appendsLeft === 0) this.#keep(taken);
  }

  /**
   * Called when the entity leaves memory, and its records are on disk. Stores a snapshot if one is worthwhile, and then
   * calls `close`.
   */
  close(guest: GuestEntity, seq: number, close: () => void): void {
    const growth = this.#growth;
    if (guest.lost || growth === undefined || !this.#policy.isDueAtClose(this.#ref, growth))
      return close();
    const taken = this.take(guest, seq, () => {
      this.awaitAppends(0);
      close();
    });
    if (taken !== undefined) this.#policy.closes(taken);
  }

  #took(seq: number, state: string): true {
    if (this.#growth !== undefined && this.#policy.isWorthKeeping(this.#ref, state, this.#growth))
      this.#taken = { seq, state, appendsLeft: 0 };
    return true;
  }

  #failed(fault: unknown, isOwn: boolean): false {
    this.#policy.failed(this.#ref, fault, isOwn);
    return false;
  }

  #keep({ seq, state }: Taken): void {
    this.#taken = undefined;
    this.#policy.keep(this.#ref, seq, state);
  }
}
