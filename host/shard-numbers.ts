// ShardNumbers: what a shard counts in memory that the main thread shares, so that metrics are made without asking it.
// They are made once its module is admitted, for their size is the module's, and they outlive a thread that ends.
import type { ModuleDescriptor } from '@svc/contract';
import { HandlerPlaces } from './model/handler-places.ts';
import { WindowCounts } from './observability/window-counts.ts';

/** What the two threads share. */
export interface SharedNumbers {
  readonly window: SharedArrayBuffer;
}

export class ShardNumbers {
  readonly places: HandlerPlaces;
  readonly window: WindowCounts;

  /** `shared`: what the other thread's are made of. */
  constructor(descriptor: ModuleDescriptor, shared?: SharedNumbers) {
    this.places = new HandlerPlaces(descriptor);
    this.window = new WindowCounts(this.places.handlers.length, shared?.window);
  }

  get shared(): SharedNumbers {
    return { window: this.window.shared };
  }
}

/** The part of a shard in the spans that the service keeps, so that all parts come to `capacity`. */
export function ringShare(capacity: number, index: number, count: number): number {
  return Math.floor(capacity / count) + (index < capacity % count ? 1 : 0);
}
