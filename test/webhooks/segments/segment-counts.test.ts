// What operators see of all segments together.
import { expect, test } from 'vitest';
import type { ServiceCounts } from '@svc/host';
import { segmentMetrics } from '../../../webhooks/program/segment-metrics.ts';
import { segmentCounts } from '../../../webhooks/segments/segment-counts.ts';

function segment(lagRecords: number, parked: number) {
  const counts: ServiceCounts = {
    consumers: {
      'fan-out': { lagRecords, retrying: 1, parked, isStalled: false },
      'notice-failures': { lagRecords: 1, retrying: 0, parked: 0, isStalled: false },
    },
    views: { log: { state: 'live', lagRecords, lagSeconds: 1 } },
  };
  return { service: { counts: () => counts } };
}

test('the numbers of all segments are added, and have no series before there are any', () => {
  const counts = segmentCounts([segment(5, 2), segment(7, 0)]);
  const read = (from: typeof counts | undefined) =>
    Object.fromEntries(segmentMetrics(() => from).map((metric) => [metric.name, metric.read()]));
  expect(read(counts)).toEqual({
    webhooks_segments: 2,
    webhooks_consumer_lag_records: { 'fan-out': 12, 'notice-failures': 2 },
    webhooks_consumer_lanes: { retrying: 2, parked: 2 },
    webhooks_view_lag_records: { log: 12 },
  });
  expect(new Set(Object.values(read(undefined)))).toEqual(new Set([undefined]));
});
