// LocalSection: the settings svc.local.* that are numbers, with their defaults and ranges, from which docs/reference/settings.md
// is generated.
import type { Range } from '@svc/kit/settings-reader';

export interface LocalSection {
  /** Interval at which a service is looked at during a rollout, in milliseconds. */
  readonly rolloutPollMs: number;
  /** Interval at which a service is looked at otherwise, in milliseconds. */
  readonly idlePollMs: number;
  /** Interval at which a service is looked at while its requests are held, in milliseconds. */
  readonly takeoverPollMs: number;
  /** Time that an instance has to become ready once it can have the data folder, in milliseconds; then the former generation runs again. */
  readonly takeoverTimeoutMs: number;
  /** Time in which an instance has to end beyond that of its requests (`svc.rollout.drain-ms`), in milliseconds; then it is killed with all its children. */
  readonly killAfterMs: number;
  /** Pause before an instance that has ended is started again, in milliseconds. It doubles with each further time. */
  readonly restartPauseMs: number;
  /** Longest of these pauses, in milliseconds. */
  readonly restartPauseMaxMs: number;
  /** Time for which requests are held while an instance that has ended by itself is started again, in milliseconds. */
  readonly restartHoldMs: number;
  /** Time that an instance has to be ready until its former ends are forgotten, in milliseconds. */
  readonly stableMs: number;
  /** Time in which an instance has to answer at `/ready`, in milliseconds. */
  readonly readyTimeoutMs: number;
  /** Number of times in a row that a ready instance does not answer at `/ready` until it counts as not ready. */
  readonly readyFailures: number;
  /** Time without an answer at `/ready` after which an instance is killed and started again, in milliseconds. */
  readonly silenceMs: number;
  /** Time that a rollout may be without progress, in milliseconds; then it has failed. An instance that has not started by then is killed. */
  readonly progressTimeoutMs: number;
  /** Time after which instances are ended that no service has, from the start of the control plane, in milliseconds. */
  readonly orphanMs: number;
  /** Size that the output of an instance may have beside its log, in bytes; then its beginning is cut. */
  readonly outputBytesMax: number;
  /** Processes and threads that an instance may have, where control groups limit it (`svc.local.cgroup`). */
  readonly processesMax: number;
  /** Pause before an image is asked for again that could not be read, in milliseconds. */
  readonly imagePauseMs: number;
  /** Space that all unpacked images of services may take together, in bytes. */
  readonly imagesBytesMax: number;
  /** Space that the unpacked images of the services of one project may take together, in bytes. */
  readonly projectImagesBytesMax: number;
  /** Lifetime of the certificate by which an instance, or the gateway, proves who it is, in milliseconds. It is renewed after half of it. */
  readonly identityLifetimeMs: number;
  /** Lifetime of the gateway's certificate for the base domain, in milliseconds. It is renewed after half of it. */
  readonly hostnameLifetimeMs: number;
  /** Time in which all programs take another authority into use before certificates of it are shown to them, in milliseconds. */
  readonly authoritySettleMs: number;
  /** Interval at which certificates are looked at, in milliseconds. */
  readonly certificatePollMs: number;
  /** Time for all requests to a registry for one image, in milliseconds. */
  readonly registryTimeoutMs: number;
  /** Time in which a registry has to begin an answer, and to continue it after each part, in milliseconds. */
  readonly registryAnswerTimeoutMs: number;
  /** Time after the start of the control plane in which routers connect again, in milliseconds. No instance is replaced before. */
  readonly routersGatherMs: number;
  /**
   * Time after which an instance that has left the routes counts as one that gets no requests, although a router has not acknowledged
   * that, in milliseconds.
   */
  readonly removalMs: number;
  /** Pause before the file of routes is written again after a failure, in milliseconds. */
  readonly routesRetryMs: number;
}

export const LOCAL_DEFAULTS: { readonly [Key in keyof LocalSection]: LocalSection[Key] } = {
  rolloutPollMs: 250,
  idlePollMs: 5000,
  takeoverPollMs: 10,
  takeoverTimeoutMs: 10_000,
  killAfterMs: 5000,
  restartPauseMs: 100,
  restartPauseMaxMs: 30_000,
  restartHoldMs: 2000,
  stableMs: 10_000,
  readyTimeoutMs: 1000,
  readyFailures: 3,
  silenceMs: 30_000,
  progressTimeoutMs: 600_000,
  orphanMs: 600_000,
  outputBytesMax: 10_485_760,
  processesMax: 4096,
  imagePauseMs: 5000,
  imagesBytesMax: 21_474_836_480,
  projectImagesBytesMax: 10_737_418_240,
  identityLifetimeMs: 86_400_000,
  hostnameLifetimeMs: 2_592_000_000,
  authoritySettleMs: 30_000,
  certificatePollMs: 10_000,
  registryTimeoutMs: 120_000,
  registryAnswerTimeoutMs: 10_000,
  routersGatherMs: 2500,
  removalMs: 5000,
  routesRetryMs: 5000,
};

export const LOCAL_RANGES: { readonly [Key in keyof LocalSection]: Range } = {
  rolloutPollMs: [1, 60_000],
  idlePollMs: [1, 600_000],
  takeoverPollMs: [1, 1000],
  takeoverTimeoutMs: [100, 600_000],
  killAfterMs: [100, 600_000],
  restartPauseMs: [1, 60_000],
  restartPauseMaxMs: [1, 3_600_000],
  restartHoldMs: [0, 10_000],
  stableMs: [0, 3_600_000],
  readyTimeoutMs: [10, 60_000],
  readyFailures: [1, 100],
  silenceMs: [100, 3_600_000],
  progressTimeoutMs: [100, 86_400_000],
  orphanMs: [100, 86_400_000],
  outputBytesMax: [4096, 1_073_741_824],
  processesMax: [64, 4_194_304],
  imagePauseMs: [1, 3_600_000],
  imagesBytesMax: [1_048_576, 1_125_899_906_842_624],
  projectImagesBytesMax: [1_048_576, 1_125_899_906_842_624],
  identityLifetimeMs: [2000, 604_800_000],
  hostnameLifetimeMs: [2000, 31_536_000_000],
  authoritySettleMs: [0, 3_600_000],
  certificatePollMs: [100, 3_600_000],
  registryTimeoutMs: [100, 3_600_000],
  registryAnswerTimeoutMs: [100, 600_000],
  routersGatherMs: [0, 60_000],
  removalMs: [0, 60_000],
  routesRetryMs: [1, 3_600_000],
};
