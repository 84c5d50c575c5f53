// EntitySnapshots owns what one live entity has of snapshots: how much it has grown since the last one, and
// the one that was taken of a state that is not on disk yet. It is told what happens to the state, in its order.
//
// Invariant: what is kept is a state whose records are all on disk. One of a state that was lost is dropped.
import type { EntityRef } from '../../model/entity.ts';
import type { GuestEntity } from '../needs/guest.ts';
import type { Growth, SnapshotPolicy } from './snapshot-policy.ts';

/** The last appends of its state are under way. */
interface Taken {
  readonly seq: number;
  readonly state: string;
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

  /** There is a state. */
  opened(growth: Growth): void {
    this.#growth = growth;
    // None is worth it.
    if (this.#policy.isTooLarge(this.#ref)) growth.stateBytes = Infinity;
  }

  /** Records were folded into it, and appended. */
  grew(records: number, bytes: number): void {
    if (this.#growth === undefined) return;
    this.#growth.events += records;
    this.#growth.bytes += bytes;
  }

  /** There is no state any more, or none that the journal will hold. */
  dropped(): void {
    this.#growth = undefined;
    this.#taken = undefined;
  }

  get isDue(): boolean {
    return this.#growth !== undefined && this.#policy.isDue(this.#ref, this.#growth);
  }

  /**
   * Takes one, for `awaitAppends` to have kept, and then calls `done`: false when the guest has faulted. The
   * promise is that of a guest which answers later.
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
          // oxlint-disable promise/no-callback-in-promise -- it is the one who waits
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

  /** What was taken is on disk once so many appends, all that are under way, have settled. */
  awaitAppends(count: number): void {
    if (this.#taken === undefined) return;
    this.#taken.appendsLeft = count;
    if (count === 0) this.#keep(this.#taken);
  }

  /** An append is on disk. */
  settled(): void {
    const taken = this.#taken;
    if (taken !== undefined && --taken.appendsLeft === 0) this.#keep(taken);
  }

  /** The entity leaves memory, and all of its state is on disk: keeps that where it is worthwhile, and closes. */
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
