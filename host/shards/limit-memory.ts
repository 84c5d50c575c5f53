// LimitMemory has the buckets of a module's limits, which all shards share. A shard that is started again continues with the same ones;
// another module, which `svc dev` serves in its place, has its own.
import type { ModuleDescriptor } from '@svc/contract';
import { type SharedLimits, sharedLimits } from '../model/declared-limits.ts';

export class LimitMemory {
  readonly #bucketsMax: number;
  #made: { readonly of: ModuleDescriptor; readonly limits: SharedLimits | undefined } | undefined;

  constructor(bucketsMax: number) {
    this.#bucketsMax = bucketsMax;
  }

  /** Returns the buckets of the module with this descriptor; undefined if it has no limits. */
  of(descriptor: ModuleDescriptor): SharedLimits | undefined {
    if (this.#made?.of !== descriptor)
      this.#made = {
        of: descriptor,
        limits: sharedLimits(descriptor, this.#bucketsMax, crypto.randomUUID()),
      };
    return this.#made.limits;
  }
}
