// KubernetesSection: the settings svc.kubernetes.* that are numbers, with their defaults and ranges, from which docs/reference/settings.md
// is generated.
import type { Range } from '@svc/kit/settings-reader';

export interface KubernetesSection {
  /** Time in which a connection to the API server has to be made, in milliseconds. */
  readonly connectTimeoutMs: number;
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
  /** Time after which the API server is asked to end a watch, so that another one begins, in milliseconds. */
  readonly watchMs: number;
  /** Time without an event or a bookmark after which a watch is ended and its objects are listed again, in milliseconds. */
  readonly watchSilenceMs: number;
  /** Pause after the first failure of a watch, in milliseconds. It doubles with each further one. */
  readonly watchPauseMinMs: number;
  /** Longest pause between attempts to watch, in milliseconds. */
  readonly watchPauseMaxMs: number;
  /** Size that an event of a watch may have, in bytes. */
  readonly eventBytesMax: number;
  /** Interval at which the API server is asked for its version, and whether it is that of the same cluster, in milliseconds. */
  readonly identifyMs: number;
  /** Pause before the API server is asked for that again after a failure, in milliseconds. */
  readonly identifyPauseMs: number;
  /** Time in which the credential plugin of the kubeconfig has to print credentials, in milliseconds; then it is killed. */
  readonly pluginTimeoutMs: number;
  /** Time that requests in flight have to finish when an instance ends, in milliseconds; then they are cut. */
  readonly drainMs: number;
}

export const KUBERNETES_DEFAULTS: {
  readonly [Key in keyof KubernetesSection]: KubernetesSection[Key];
} = {
  connectTimeoutMs: 5000,
  answerTimeoutMs: 15_000,
  objectBytesMax: 4_194_304,
  pageItems: 250,
  pageBytesMax: 67_108_864,
  listItemsMax: 100_000,
  watchMs: 240_000,
  watchSilenceMs: 120_000,
  watchPauseMinMs: 100,
  watchPauseMaxMs: 30_000,
  eventBytesMax: 8_388_608,
  identifyMs: 60_000,
  identifyPauseMs: 2000,
  pluginTimeoutMs: 30_000,
  drainMs: 10_000,
};

export const KUBERNETES_RANGES: { readonly [Key in keyof KubernetesSection]: Range } = {
  connectTimeoutMs: [10, 60_000],
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
  identifyMs: [100, 3_600_000],
  identifyPauseMs: [10, 600_000],
  pluginTimeoutMs: [100, 600_000],
  drainMs: [0, 60_000],
};
