// Schedule: a recurring timer of the whole service, which the program declares. The runtime sets it when the service
// starts, and removes it when a program without it starts.
import type { DeferredCall } from './deferred-call.ts';
import type { Due } from './due.ts';

export interface Schedule {
  /** Unique among the schedules of the service, in lower-case words: `nightly-report`. */
  readonly id: string;
  /** `Due.every` or `Due.cron`. */
  readonly due: Due;
  /** `callOf(report, 'daily').make()` */
  readonly call: DeferredCall;
}
