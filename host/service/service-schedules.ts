// ServiceSchedules: the schedules that a descriptor declares, as the journal stores them.
import type { ModuleDescriptor } from '@svc/contract';
import type { ServiceSchedule } from '../storage/timer-administration.ts';

/** Returns the schedules; the input of one that declares none is `null`. */
export function serviceSchedules({ schedules = [] }: ModuleDescriptor): readonly ServiceSchedule[] {
  return schedules.map(({ id, target, command, input = 'null', due }) => ({
    id,
    target,
    command,
    input,
    schedule: due,
  }));
}
