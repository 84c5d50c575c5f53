// ParkedEvents: has the events of a segment handled again that were parked, such as by a defect of an earlier version. Nobody else could: segments have no console.
import type { Service } from '@svc/host';
import type { Log } from '@svc/kit/log';
import { SvcError } from '@svc/kit/svc-error';

const CONSUMERS = ['fan-out', 'notice-failures'];
/** A thousand lanes are retried at a time; more than these would be another defect. */
const TIMES_MAX = 100;

/** Call it when a segment is opened. Never rejects. */
export async function retryParkedEvents(
  service: Pick<Service, 'change'>,
  segment: number,
  log: Log,
): Promise<void> {
  try {
    for (const consumer of CONSUMERS)
      for (let times = 0; times < TIMES_MAX; times++)
        // oxlint-disable-next-line no-await-in-loop -- until there are no more
        if (!(await service.change({ kind: 'retry-lanes', consumer }))) break;
  } catch (error) {
    if (error instanceof SvcError && error.code === 'SVC_STOPPING') return;
    log({
      level: 'warn',
      message: 'parked events of deliveries cannot be handled again before the next start',
      fields: { segment, error: String(error) },
    });
  }
}
