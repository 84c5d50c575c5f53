// ServiceStatus: the body that answers for a service (contract, document 1, "Service status").
import type { Lifecycle, ServiceStatus } from '@svc/client';
import { isTakenUp, lifecycleOf, workloadOf } from './lifecycle.ts';
import type { DesiredService, Observation } from './orchestrator.ts';

/** The knowledge of what runs of a service. */
export interface Observed {
  /** The last observation; undefined if there never was one. */
  readonly observation: Observation | undefined;
  /** True if the observation is recent, and the orchestrator answers. */
  readonly isCurrent: boolean;
  /** Why the orchestrator could not be asked, as words for a member. */
  readonly problem?: string;
}

export interface StatusOptions {
  readonly nowMs: number;
  readonly progressDeadlineMs: number;
  /** Port at which hostnames are served over HTTPS, if it is not 443. */
  readonly httpsPort?: number | undefined;
}

export function statusOf(
  desired: DesiredService,
  observed: Observed,
  options: StatusOptions,
): ServiceStatus {
  const { key, descriptor, exposedHostname } = desired;
  const { observation, isCurrent } = observed;
  const workload = workloadOf(desired, observation);
  const lifecycle = lifecycleOf(desired, observation, options.nowMs, options.progressDeadlineMs);
  const detail = detailOf(desired, observed, lifecycle, options.progressDeadlineMs);
  const protocol = 'protocol' in descriptor ? descriptor.protocol : undefined;
  const port = options.httpsPort === undefined ? '' : `:${options.httpsPort}`;
  return {
    name: key.service,
    projectId: key.project,
    lifecycle,
    generation: desired.generation,
    image: descriptor.image,
    readyInstances: workload?.readyInstances ?? 0,
    desiredInstances: desired.instances,
    confirmed: isCurrent && workload?.generation === desired.generation,
    exposed: exposedHostname !== undefined,
    suspended: desired.isSuspended,
    paused: desired.isPaused,
    hosting: descriptor.hosting ?? 'embedded',
    ...(detail !== '' && { detail }),
    ...(workload?.database !== undefined && { database: workload.database }),
    ...(exposedHostname !== undefined && { hostname: `https://${exposedHostname}${port}` }),
    ...(protocol !== undefined && { protocol }),
  };
}

/** Returns why the service is in its state, and why that is not confirmed; empty if there is nothing to say. */
function detailOf(
  desired: DesiredService,
  { observation, problem }: Observed,
  lifecycle: Lifecycle,
  progressDeadlineMs: number,
): string {
  const state = stateDetail(desired, observation, lifecycle, progressDeadlineMs);
  return [state, problem ?? ''].filter((part) => part !== '').join('; ');
}

function stateDetail(
  desired: DesiredService,
  observation: Observation | undefined,
  lifecycle: Lifecycle,
  progressDeadlineMs: number,
): string {
  if (lifecycle === 'suspended') return 'the organization is disabled';
  const workload = workloadOf(desired, observation);
  if (workload === undefined)
    return observation?.kind === 'workload'
      ? 'waiting until nothing is left of the deleted service of this name'
      : (observation?.detail ?? '');
  // What the orchestrator says of another generation is not why this one is in its state.
  if (!isTakenUp(desired, workload)) return '';
  const { rollout, detail = '' } = workload;
  if (lifecycle !== 'failed') return detail;
  if (rollout.kind === 'failed') return rollout.reason;
  const late = `the rollout made no progress for ${progressDeadlineMs / 1000} s`;
  return detail === '' ? late : `${late}: ${detail}`;
}
