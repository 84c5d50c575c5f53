// ShardSeries: the names of the numbers that a shard samples of its engine, its guest and its HTTP server once a
// second, and shares with the main thread.

export const SHARD_SERIES = [
  'entities-in-memory',
  'activations-empty',
  'activations-snapshot',
  'activations-folded',
  'passivations',
  'endpoint-instances',
  'entity-instances',
  'guest-memory-bytes',
  'requests-in-flight',
  'unsent-bytes',
  'body-bytes',
] as const;
export type ShardSeries = (typeof SHARD_SERIES)[number];

/** Series that are current values; they become 0 when the thread ends. */
export const SHARD_GAUGES: readonly ShardSeries[] = [
  'entities-in-memory',
  'endpoint-instances',
  'entity-instances',
  'guest-memory-bytes',
  'requests-in-flight',
  'unsent-bytes',
  'body-bytes',
];
