// The metrics of consumers.
import type { ConsumerCounts } from '@svc/model/consumer-series';
import type { Family, Sample } from './metrics-text.ts';

/** Counts of one consumer. */
export interface ConsumerNumbers extends ConsumerCounts {
  readonly consumer: string;
}

/** Makes no series for a service without consumers. */
export function consumerFamilies(consumers: readonly ConsumerNumbers[]): Family[] {
  if (consumers.length === 0) return [];
  const family = (
    name: string,
    help: string,
    samplesOf: (of: ConsumerNumbers) => readonly Sample[],
  ): Family => ({ name, type: 'gauge', help, samples: consumers.flatMap(samplesOf) });
  return [
    family(
      'svc_consumer_lag_records',
      'Records of the journal that are after the position of the consumer.',
      ({ consumer, lagRecords }) => [{ labels: { consumer }, value: lagRecords }],
    ),
    family(
      'svc_consumer_lanes',
      'Entities whose events wait: the first one is tried again, or it is parked.',
      ({ consumer, retrying, parked }) => [
        { labels: { consumer, state: 'retrying' }, value: retrying },
        { labels: { consumer, state: 'parked' }, value: parked },
      ],
    ),
    family(
      'svc_consumer_stalled',
      'Whether the consumer has stopped, because too many entities are parked: 1 or 0.',
      ({ consumer, isStalled }) => [{ labels: { consumer }, value: Number(isStalled) }],
    ),
  ];
}
