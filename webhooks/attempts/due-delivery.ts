// DueDelivery: a delivery with the attempt that is made next.
import type { NextAttempt } from '../model/attempt-schedule.ts';

export interface DueDelivery extends Omit<NextAttempt, 'dueAtMs'> {
  readonly id: string;
  /** Number of the segment that it is in. */
  readonly segment: number;
  readonly tenant: string;
  readonly subscription: string;
  /** Host and port of the URL of the last attempt, or of the first one. */
  readonly host: string;
}

/** Returns the host and the port of a URL; an empty text if it is none. */
export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? '';
}
