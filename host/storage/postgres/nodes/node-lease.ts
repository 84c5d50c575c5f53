// NodeLease says until when this node owns its slices, in memory that its threads share. The thread that renews the lease extends
// it; all others ask before they answer from what is in memory.
//
// Invariants
// - The lease is counted from before its renewal was sent, so it ends here before it ends in the database.
// - It has ended as soon as either clock says so: the monotonic one stops while the machine is suspended, and the wall clock may be
//   set.
import type { Leases } from '../../../engine/needs/leases.ts';
import { machineMs } from '../../../system.ts';
import { sliceOf } from '@svc/model/slice';
import { SliceTable } from './slice-table.ts';

/** How long a lease lasts, in milliseconds. */
export const LEASE_MS = 5_000;
/** The database lets it last so much longer, because the clocks of two machines do not run equally fast, in milliseconds. */
export const CLOCK_DRIFT_MS = 100;
/** SQL: the time at which a lease ends that is given now. */
export const LEASE_SQL = `clock_timestamp() + interval '${LEASE_MS + CLOCK_DRIFT_MS} milliseconds'`;
/** How often it is renewed, in milliseconds. */
export const RENEWAL_MS = 1_000;

const MACHINE = 0;
const WALL = 1;

/** The clocks of a machine, in milliseconds. */
export interface LeaseClocks {
  /** The same in all threads, and never set back. */
  readonly machineMs: () => number;
  /** Since 1970-01-01T00:00:00Z. */
  readonly nowMs: () => number;
}

export const MACHINE_CLOCKS: LeaseClocks = { machineMs, nowMs: () => Date.now() };

export class NodeLease {
  readonly #ends: Float64Array;
  readonly #clocks: LeaseClocks;

  /** `shared`: memory of another thread's NodeLease; without it, new memory is allocated, of a lease that has ended. */
  constructor(
    shared = new SharedArrayBuffer(2 * Float64Array.BYTES_PER_ELEMENT),
    clocks: LeaseClocks = MACHINE_CLOCKS,
  ) {
    this.#ends = new Float64Array(shared);
    this.#clocks = clocks;
  }

  /** Memory to create another thread's NodeLease with. */
  get shared(): SharedArrayBuffer {
    return this.#ends.buffer as SharedArrayBuffer;
  }

  /** How long the lease still lasts, in milliseconds; 0 if it has ended. */
  get leftMs(): number {
    const { machineMs: nowMachineMs, nowMs } = this.#clocks;
    const leftMs = Math.min(
      this.#ends[MACHINE]! - nowMachineMs(),
      this.#ends[WALL]! - nowMs(),
      LEASE_MS,
    );
    return Math.max(0, leftMs);
  }

  get isValid(): boolean {
    return this.leftMs > 0;
  }

  /** Returns a function that extends the lease from now. Call this before the renewal is sent, and the function once it is confirmed. */
  renewal(): () => void {
    const machineEndMs = this.#clocks.machineMs() + LEASE_MS;
    const wallEndMs = this.#clocks.nowMs() + LEASE_MS;
    return () => {
      this.#ends[MACHINE] = machineEndMs;
      this.#ends[WALL] = wallEndMs;
    };
  }

  /** Ends the lease at once. */
  end(): void {
    this.#ends.fill(0);
  }
}

/** Returns the leases of the entities of a node. A lease ends with that of the node, and when the node loses the slice. */
export function postgresLeases({
  lease,
  owners,
}: {
  readonly lease: SharedArrayBuffer;
  readonly owners: SharedArrayBuffer;
}): Leases {
  const held = new NodeLease(lease);
  const table = new SliceTable(owners);
  return {
    epochOf: ({ component, id }) =>
      held.isValid ? table.acquisitionOf(sliceOf(component, id)) : undefined,
  };
}
