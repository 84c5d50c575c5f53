// SegmentSettings: the settings with which the service of a segment runs, whatever the program's are.
//
// Invariant: none of them is about what is stored; a segment can be opened with others.
import type { ServiceOptions } from '@svc/host';

/** Events that fail are tried again every ten seconds at least, and for longer than a segment lives (consumers/retried.ts). */
const RETRIED_FOR_EVER = {
  'svc.consumers.attempts-max': 1_000_000,
  'svc.consumers.retry-pause-max-ms': 10_000,
} as const;

/**
 * An event that is handled again after a crash meets what it has opened, so that the position is stored rarely. Most deliveries are opened,
 * attempted and ended within the time of a group, so that each is one row of the log, and none of those that are due.
 */
const GROUPED = {
  'svc.consumers.settle-ms': 1_000,
  'svc.views.group-ms': 250,
} as const;

export const SEGMENT_SETTINGS: NonNullable<ServiceOptions['settings']> = {
  ...RETRIED_FOR_EVER,
  ...GROUPED,
};
