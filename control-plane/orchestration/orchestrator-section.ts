// OrchestratorSection: the settings svc.orchestrator.*, with their defaults and ranges, from which
// docs/reference/settings.md is generated.
import type { Range } from '@svc/kit/settings-reader';

export interface OrchestratorSection {
  /** Time for one observation of a service, in milliseconds; then a status restates what was last known. */
  readonly observeTimeoutMs: number;
  /** Age up to which an observation confirms a status, in milliseconds. */
  readonly observationAgeMaxMs: number;
  /** Time after a failed observation of a service in which the orchestrator is not asked for a status of it again, in milliseconds. */
  readonly observePauseMs: number;
  /** Time that a rollout may be without progress until the service is `failed`, in milliseconds. */
  readonly progressDeadlineMs: number;
  /** Time in which the orchestrator has to say whether it can run a descriptor, in milliseconds; then the apply is stored unjudged. */
  readonly problemsTimeoutMs: number;
  /** Time after it has not said so in which applies are stored without asking the orchestrator, in milliseconds. */
  readonly problemsPauseMs: number;
  /** Time in which the orchestrator has to start making a service as it should be, in milliseconds; then it is asked again. */
  readonly reconcileTimeoutMs: number;
  /** Services that the orchestrator is asked to change at the same time. */
  readonly reconcileWorkers: number;
  /** Pause after the first failure to change a service, in milliseconds. It doubles with each further one. */
  readonly backoffMinMs: number;
  /** Longest pause between attempts to change a service, in milliseconds. */
  readonly backoffMaxMs: number;
  /** Interval at which every service is compared with what runs, in milliseconds. */
  readonly resyncMs: number;
  /** Time for reading the logs of a service, in milliseconds; then the request is answered 503. */
  readonly logsTimeoutMs: number;
  /** Output that an answer with logs has, in bytes, over all instances. The last bytes of each instance are kept. */
  readonly logsBytesMax: number;
  /** Calls of one kind that the orchestrator has not ended, although nobody waits for them any more; with so many it counts as unreachable. */
  readonly abandonedCallsMax: number;
  /** The same for calls that concern one service. */
  readonly abandonedCallsOfServiceMax: number;
}

export const ORCHESTRATOR_DEFAULTS: {
  readonly [Key in keyof OrchestratorSection]: OrchestratorSection[Key];
} = {
  observeTimeoutMs: 2000,
  observationAgeMaxMs: 10_000,
  observePauseMs: 1000,
  progressDeadlineMs: 600_000,
  problemsTimeoutMs: 2000,
  problemsPauseMs: 5000,
  reconcileTimeoutMs: 30_000,
  reconcileWorkers: 16,
  backoffMinMs: 100,
  backoffMaxMs: 60_000,
  resyncMs: 300_000,
  logsTimeoutMs: 10_000,
  logsBytesMax: 4_194_304,
  abandonedCallsMax: 64,
  abandonedCallsOfServiceMax: 8,
};

export const ORCHESTRATOR_RANGES: { readonly [Key in keyof OrchestratorSection]: Range } = {
  observeTimeoutMs: [10, 60_000],
  observationAgeMaxMs: [100, 600_000],
  observePauseMs: [0, 60_000],
  progressDeadlineMs: [1000, 86_400_000],
  problemsTimeoutMs: [10, 60_000],
  problemsPauseMs: [0, 60_000],
  reconcileTimeoutMs: [10, 600_000],
  reconcileWorkers: [1, 1000],
  backoffMinMs: [1, 60_000],
  backoffMaxMs: [1, 3_600_000],
  resyncMs: [1000, 86_400_000],
  logsTimeoutMs: [10, 60_000],
  logsBytesMax: [1024, 67_108_864],
  abandonedCallsMax: [1, 10_000],
  abandonedCallsOfServiceMax: [1, 10_000],
};
