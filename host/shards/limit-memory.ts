// LimitMemory has the buckets of a module's limits, which all shards share. A shard that is started again continues with the same ones;
// another module, which `svc dev` serves in its place, has its own.
import type { ModuleDescriptor } from '@svc/contract';
import type { GuestSource } from '../hosting/guest-source.ts';
import { type SharedLimits, sharedLimits } from '@svc/model/declared-limits';

export class LimitMemory {
  readonly #bucketsMax: number;
  readonly #made = new WeakMap<GuestSource, SharedLimits>();

  constructor(bucketsMax: number) {
    this.#bucketsMax = bucketsMax;
  }

  /** Returns the buckets of a module; undefined if it has no limits. `descriptor`: that of the source. */
  of(source: GuestSource, descriptor: ModuleDescriptor): SharedLimits | undefined {
    const made = this.#made.get(source);
    if (made !== undefined) return made;
    const limits = sharedLimits(descriptor, this.#bucketsMax, crypto.randomUUID());
    if (limits !== undefined) this.#made.set(source, limits);
    return limits;
  }
}
