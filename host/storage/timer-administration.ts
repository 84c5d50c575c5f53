// TimerAdministration is what operators, and the host at its start, do with stored timers. Every journal has it.
import type { EntityRef } from '@svc/model/entity';
import type { Schedule } from '@svc/model/timer';

/** A schedule of the service: a recurring timer that no entity owns. */
export interface ServiceSchedule {
  /** The timer's name, unique among the schedules of the service. */
  readonly id: string;
  readonly target: EntityRef;
  readonly command: string;
  /** JSON text. */
  readonly input: string;
  readonly schedule: Schedule;
}

export interface TimerAdministration {
  /**
   * Makes the timers of the service those of the list: missing ones are set, changed ones are replaced, and all others
   * are removed. One that is unchanged keeps the time at which it is due. `nowMs`: the present time, in milliseconds since
   * 1970. Rejects with SVC_TIMER_INVALID or SVC_TIMERS_FULL, and then changes nothing, or as an append fails.
   */
  reconcileSchedules(schedules: readonly ServiceSchedule[], nowMs: number): Promise<void>;
  /** Cancels a timer of an entity, or of the service if `owner` is undefined. Returns whether it was there. */
  cancelTimer(owner: EntityRef | undefined, name: string): Promise<boolean>;
  /** Makes a dead timer due at `nowMs`, with no failed attempts. Returns whether there was a dead one of this name. */
  retryTimer(owner: EntityRef | undefined, name: string, nowMs: number): Promise<boolean>;
}
