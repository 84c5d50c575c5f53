// ParkedEvents: has the events of a segment handled again that were parked, such as by a defect of an earlier version. Nobody else could: segments have no console.
import type { Service } from '@svc/host';
import type { Clock } from '@svc/kit/clock';
import type { Log } from '@svc/kit/log';
import { SvcError } from '@svc/kit/svc-error';

const CONSUMERS = ['fan-out', 'notice-failures'];
/** A thousand lanes are retried at a time; more than these would be another defect. */
const TIMES_MAX = 100;

/** Tries while the threads of the consumers start. */
const STARTS_MAX = 60;
/** Time between two of them. */
const START_PAUSE_MS = 1_000;

export interface ParkedEventsOptions {
  readonly segment: number;
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Log;
}

/** Call it when a segment is opened. Never rejects. */
export async function retryParkedEvents(
  service: Pick<Service, 'change'>,
  { segment, clock, log }: ParkedEventsOptions,
): Promise<void> {
  for (let starts = 1; ; starts++)
    try {
      // oxlint-disable-next-line no-await-in-loop -- again, if the consumers have not started
      await retryAll(service);
      return;
    } catch (error) {
      const code = error instanceof SvcError ? error.code : undefined;
      if (code === 'SVC_STOPPING') return;
      if (code === 'SVC_SHARD_UNAVAILABLE' && starts < STARTS_MAX) {
        // oxlint-disable-next-line no-await-in-loop -- the consumers are given time
        await new Promise<void>((resolve) => void clock.after(START_PAUSE_MS, resolve));
        continue;
      }
      log({
        level: 'warn',
        message: 'parked events of deliveries cannot be handled again before the next start',
        fields: { segment, error: String(error) },
      });
      return;
    }
}

async function retryAll(service: Pick<Service, 'change'>): Promise<void> {
  for (const consumer of CONSUMERS)
    for (let times = 0; times < TIMES_MAX; times++)
      // oxlint-disable-next-line no-await-in-loop -- until there are no more
      if (!(await service.change({ kind: 'retry-lanes', consumer }))) break;
}
