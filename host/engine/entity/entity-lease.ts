// EntityLease is the lease under which the state of one entity is in memory. An engine without leases has none.
//
// Invariant: a state that was read under one lease is never used under another one, because other nodes may have written in
// between. A lease that the engine has ended is not held, even if the node still has it.
import type { EntityRef } from '@svc/model/entity';
import type { Leases } from '../needs/leases.ts';

export class EntityLease {
  readonly #ref: EntityRef;
  readonly #leases: Leases;
  #epoch: number | undefined;

  constructor(ref: EntityRef, leases: Leases) {
    this.#ref = ref;
    this.#leases = leases;
    this.#epoch = leases.epochOf(ref);
  }

  /** Whether the lease has been held since it was taken. */
  get isHeld(): boolean {
    return this.#epoch !== undefined && this.#leases.epochOf(this.#ref) === this.#epoch;
  }

  /** Takes the lease that the node holds now. Returns which lease that is, compared with the one that was taken before. */
  take(): 'none' | 'same' | 'other' {
    const epoch = this.#leases.epochOf(this.#ref);
    if (epoch === undefined) return 'none';
    if (epoch === this.#epoch) return 'same';
    this.#epoch = epoch;
    return 'other';
  }

  end(): void {
    this.#epoch = undefined;
  }
}
