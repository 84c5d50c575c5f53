// LimitLabel: the labels of the series of faults and limits in the overview.
import { expect, test } from 'vitest';
import { limitLabel } from '../../../../console/page/view/limit-label.ts';

test.each([
  ['svc_guest_faults_total{cause="trap"}', 'guest faults: trap'],
  ['svc_guest_limit_met_total{limit="command-fuel"}', 'limit met: command-fuel'],
  ['svc_failures_total{code="SVC_SHARD_UNAVAILABLE"}', 'failures: SVC_SHARD_UNAVAILABLE'],
  ['svc_failures_total', 'failures'],
  ['svc_shards_listening', undefined],
  ['svc_failures_total_of_others', undefined],
])('%s: %s', (name, words) => {
  expect(limitLabel(name)).toBe(words);
});
