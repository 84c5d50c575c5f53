// AttemptMetrics: the series by which an operator sees whether receivers answer. None has a tenant, a subscription or a URL.
import type { Metric } from '@svc/host';
import type { SchedulerCounts } from '../attempts/scheduler.ts';
import type { AttemptResult } from '../sending/sender.ts';

/** The receiver has answered with another status than a 2xx one. */
const REFUSED = 'status';

export class AttemptMetrics {
  /** Outcome → number of attempts. Outcomes are `delivered`, `status` and the errors of the log. */
  readonly #attempts = new Map<string, number>([['delivered', 0]]);

  /** Receives the result of each attempt. */
  count({ isDelivered, error }: Pick<AttemptResult, 'isDelivered' | 'error'>): void {
    const outcome = isDelivered ? 'delivered' : (error ?? REFUSED);
    this.#attempts.set(outcome, (this.#attempts.get(outcome) ?? 0) + 1);
  }

  /** `counts`: undefined while there are no deliveries, as during the start. */
  series(counts: () => SchedulerCounts | undefined): readonly Metric[] {
    return [
      {
        name: 'webhooks_attempts_total',
        type: 'counter',
        help: 'Attempts that have ended, by outcome.',
        label: 'outcome',
        read: () => Object.fromEntries(this.#attempts),
      },
      {
        name: 'webhooks_attempts_under_way',
        type: 'gauge',
        help: 'Attempts that have begun and not ended.',
        read: () => counts()?.underWay,
      },
      {
        name: 'webhooks_pending',
        type: 'gauge',
        help: 'Pending deliveries in memory. Of one subscription at most svc.webhooks.ids-in-memory-max are there.',
        read: () => counts()?.inMemory,
      },
      {
        name: 'webhooks_pending_stored',
        type: 'gauge',
        help: 'Pending deliveries of all subscriptions, in memory or not, as they were counted last: every ten seconds.',
        read: () => counts()?.pending,
      },
      {
        name: 'webhooks_waiting',
        type: 'gauge',
        help: 'Pending deliveries in memory that wait for the time of their next attempt.',
        read: () => counts()?.waiting,
      },
    ];
  }
}
