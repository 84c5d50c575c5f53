// ShardSeries: what a shard samples of its engine, its guest and its HTTP server once a second, by the names that it
// shares the numbers under.

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

/** What there is at a moment, and is nothing once the thread has ended. */
export const SHARD_GAUGES: readonly ShardSeries[] = [
  'entities-in-memory',
  'endpoint-instances',
  'entity-instances',
  'guest-memory-bytes',
  'requests-in-flight',
  'unsent-bytes',
  'body-bytes',
];
