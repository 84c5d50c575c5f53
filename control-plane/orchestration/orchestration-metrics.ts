// OrchestrationMetrics: the series by which an operator sees that services are not as they should be, because the orchestrator fails or
// the queue is long.
import type { Metric } from '@svc/host';
import type { FailedRequests } from './failed-requests.ts';
import type { Observations } from './observations.ts';
import type { ReconcileQueue } from './reconcile-queue.ts';

const MS_PER_S = 1000;

export interface OrchestrationNumbers {
  /** Returns undefined before the queue exists. */
  readonly queue: () => Pick<ReconcileQueue, 'counts' | 'waitMs'> | undefined;
  readonly observations: Pick<Observations, 'failing'>;
  readonly failedRequests: Pick<FailedRequests, 'count'>;
}

export function orchestrationMetrics({
  queue,
  observations,
  failedRequests,
}: OrchestrationNumbers): readonly Metric[] {
  return [
    {
      name: 'control_plane_reconcile_services',
      type: 'gauge',
      help: 'Services that are not settled, by what they wait for.',
      label: 'state',
      read: () => queue()?.counts(),
    },
    {
      name: 'control_plane_reconcile_wait_seconds',
      type: 'gauge',
      help: 'How long the first service in the queue has waited to be reconciled.',
      read: () => {
        const waitMs = queue()?.waitMs();
        return waitMs === undefined ? undefined : waitMs / MS_PER_S;
      },
    },
    {
      name: 'control_plane_orchestrator_failures_total',
      type: 'counter',
      help: 'Requests to the orchestrator that failed, or were not answered in time or sensibly.',
      read: () => failedRequests.count,
    },
    {
      name: 'control_plane_observations_failing',
      type: 'gauge',
      help: 'Services of which the orchestrator did not say at the last question what runs.',
      read: () => observations.failing,
    },
  ];
}
