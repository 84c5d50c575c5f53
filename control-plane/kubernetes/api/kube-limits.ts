// KubeLimits bound every answer of the Kubernetes API server in bytes and in time.

export interface KubeLimits {
  readonly connectTimeoutMs: number;
  /** Connections for requests; one that finds none free waits. */
  readonly connectionsMax: number;
  /** Connections for logs; one that finds none free waits. */
  readonly logConnectionsMax: number;
  /** Time for a whole answer, from the request to its last byte. Watches have their own limits. */
  readonly answerTimeoutMs: number;
  /** The most bytes of an answer that is no page of a list. etcd stores no object of more than 1.5 MiB. */
  readonly objectBytesMax: number;
  /** The most objects that a page of a list is asked for, and its most bytes. */
  readonly pageItems: number;
  readonly pageBytesMax: number;
  /** The most objects of a list. */
  readonly listItemsMax: number;
}

export const KUBE_LIMITS_DEFAULT: KubeLimits = {
  connectTimeoutMs: 5000,
  connectionsMax: 32,
  logConnectionsMax: 64,
  answerTimeoutMs: 15_000,
  objectBytesMax: 4 * 1024 * 1024,
  pageItems: 250,
  pageBytesMax: 64 * 1024 * 1024,
  listItemsMax: 100_000,
};
