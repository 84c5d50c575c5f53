// SegmentMetrics: the series by which an operator sees whether events become deliveries, and whether the log has them. None has a tenant, a
// subscription or a URL.
import type { Metric } from '@svc/host';
import type { SegmentCounts } from '../segments/segment-counts.ts';

/** `counts`: undefined while there are no segments, as during the start. */
export function segmentMetrics(counts: () => SegmentCounts | undefined): readonly Metric[] {
  return [
    {
      name: 'webhooks_segments',
      type: 'gauge',
      help: 'Segments that are open, each with the datasets and deliveries of five days.',
      read: () => counts()?.segments,
    },
    {
      name: 'webhooks_consumer_lag_records',
      type: 'gauge',
      help: 'Records of the segments that a consumer has not read.',
      label: 'consumer',
      read: () => counts()?.consumerLag,
    },
    {
      name: 'webhooks_consumer_lanes',
      type: 'gauge',
      help: 'Datasets and deliveries whose events wait, since one is tried again, or is parked until the next start.',
      label: 'state',
      read: () => {
        const lanes = counts()?.lanes;
        return lanes && { ...lanes };
      },
    },
    {
      name: 'webhooks_view_lag_records',
      type: 'gauge',
      help: 'Records of the segments that a view has not folded.',
      label: 'view',
      read: () => counts()?.viewLag,
    },
  ];
}
