// KubernetesSection: the settings svc.kubernetes.* that are numbers, with their defaults and ranges, from which docs/reference/settings.md
// is generated.
import type { Range } from '@svc/kit/settings-reader';

export interface KubernetesSection {
  /** Time in which a connection to the API server has to be made, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** Connections for requests to the API server. A request that finds none free waits for one, within its time. */
  readonly connectionsMax: number;
  /** Connections by which logs of pods are read, beside those for requests. A log that finds none free waits for one, within its time. */
  readonly logConnectionsMax: number;
  /** Time in which the API server has to answer a request, from its beginning to its last byte, in milliseconds. Watches have limits of their own. */
  readonly answerTimeoutMs: number;
  /** Size that an answer of the API server may have that is no list, in bytes. */
  readonly objectBytesMax: number;
  /** Objects that a page of a list is asked for. */
  readonly pageItems: number;
  /** Size that such a page may have, in bytes. */
  readonly pageBytesMax: number;
  /** Objects that a list may have, over all pages. */
  readonly listItemsMax: number;
  /** Time after which the API server is asked to end a watch, so that another one begins with a list, in milliseconds. Less than watch-silence-ms: old servers send no bookmarks for kinds of which nothing changes. */
  readonly watchMs: number;
  /** Time without an event or a bookmark after which a watch is ended and its objects are listed again, in milliseconds. */
  readonly watchSilenceMs: number;
  /** Pause after the first failure of a watch, in milliseconds. It doubles with each further one. */
  readonly watchPauseMinMs: number;
  /** Longest pause between attempts to watch, in milliseconds. */
  readonly watchPauseMaxMs: number;
  /** Size that an event of a watch may have, in bytes. */
  readonly eventBytesMax: number;
  /** Time that the controllers of the cluster have to take up a new StatefulSet, in milliseconds. A service that is not taken up is applied again later. */
  readonly takeUpTimeoutMs: number;
  /** Longest time after which a service is applied and observed again although no watch has reported a change, in milliseconds; at least half of it. */
  readonly settledMaxMs: number;
  /** Age up to which an answer of the API server shows that it is there, in milliseconds. */
  readonly contactAgeMaxMs: number;
  /** Time that the API server has to show that it is there, in milliseconds; then it is asked for each service directly. Less than the time of an observation. */
  readonly contactTimeoutMs: number;
  /** Interval at which the API server is asked for its version, and whether it is that of the same cluster, in milliseconds. */
  readonly identifyMs: number;
  /** Pause before the API server is asked for that again after a failure, in milliseconds. */
  readonly identifyPauseMs: number;
  /** Time in which the credential plugin of the kubeconfig has to print credentials, in milliseconds; then it is killed. */
  readonly pluginTimeoutMs: number;
  /** Time that requests in flight have to finish when an instance ends, in milliseconds; then they are cut. */
  readonly drainMs: number;
  /** Lifetime of the certificate by which a service, or the gateway, proves who it is, in milliseconds. It is renewed after half of it. */
  readonly identityLifetimeMs: number;
  /** Time in which all programs trust another authority before certificates of it are shown to them, in milliseconds. */
  readonly authoritySettleMs: number;
  /** Interval at which the authority and the certificate of the gateway are looked at, in milliseconds. */
  readonly certificatePollMs: number;
}

export const KUBERNETES_DEFAULTS: {
  readonly [Key in keyof KubernetesSection]: KubernetesSection[Key];
} = {
  connectTimeoutMs: 5000,
  connectionsMax: 32,
  logConnectionsMax: 64,
  answerTimeoutMs: 15_000,
  objectBytesMax: 4_194_304,
  pageItems: 250,
  pageBytesMax: 67_108_864,
  listItemsMax: 100_000,
  watchMs: 110_000,
  watchSilenceMs: 120_000,
  watchPauseMinMs: 100,
  watchPauseMaxMs: 30_000,
  eventBytesMax: 8_388_608,
  takeUpTimeoutMs: 10_000,
  settledMaxMs: 43_200_000,
  contactAgeMaxMs: 5000,
  contactTimeoutMs: 1000,
  identifyMs: 60_000,
  identifyPauseMs: 2000,
  pluginTimeoutMs: 30_000,
  drainMs: 10_000,
  identityLifetimeMs: 86_400_000,
  // A service is looked at every five minutes, and a node takes two to replace the files of a mounted secret.
  authoritySettleMs: 900_000,
  certificatePollMs: 60_000,
};

export const KUBERNETES_RANGES: { readonly [Key in keyof KubernetesSection]: Range } = {
  connectTimeoutMs: [10, 60_000],
  connectionsMax: [1, 1000],
  logConnectionsMax: [1, 1000],
  answerTimeoutMs: [100, 600_000],
  objectBytesMax: [65_536, 67_108_864],
  pageItems: [1, 5000],
  pageBytesMax: [65_536, 1_073_741_824],
  listItemsMax: [100, 1_000_000],
  watchMs: [1000, 3_600_000],
  watchSilenceMs: [1000, 3_600_000],
  watchPauseMinMs: [1, 60_000],
  watchPauseMaxMs: [1, 3_600_000],
  eventBytesMax: [65_536, 67_108_864],
  takeUpTimeoutMs: [100, 600_000],
  settledMaxMs: [60_000, 604_800_000],
  contactAgeMaxMs: [100, 60_000],
  contactTimeoutMs: [10, 60_000],
  identifyMs: [100, 3_600_000],
  identifyPauseMs: [10, 600_000],
  pluginTimeoutMs: [100, 600_000],
  drainMs: [0, 60_000],
  identityLifetimeMs: [3_600_000, 2_592_000_000],
  authoritySettleMs: [0, 86_400_000],
  certificatePollMs: [100, 3_600_000],
};
