// FollowerCounts are how many views, consumers and schedules a service has beside its routes, for the line that says that it
// has started.
import type { ModuleDescriptor } from '@svc/contract';

type Kind = 'views' | 'consumers' | 'schedules';

/** Returns the counts that are not 0. */
export function followerCounts({
  views = [],
  consumers = [],
  schedules = [],
}: ModuleDescriptor): Readonly<Partial<Record<Kind, number>>> {
  return {
    ...(views.length > 0 && { views: views.length }),
    ...(consumers.length > 0 && { consumers: consumers.length }),
    ...(schedules.length > 0 && { schedules: schedules.length }),
  };
}
