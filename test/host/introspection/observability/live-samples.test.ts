// LiveSamples: the number of requests in each of the last seconds.
import { expect, test } from 'vitest';
import {
  InvocationTotals,
  summedTotals,
} from '../../../../host/shards/recorder/invocation-totals.ts';
import { LiveSamples } from '../../../../host/introspection/observability/live-samples.ts';

const AT_MS = Date.UTC(2026, 10, 22, 1, 2, 3);
const ENDPOINT = 0;

function samplesOf(...totals: InvocationTotals[]): LiveSamples {
  return new LiveSamples(() => summedTotals(totals)[ENDPOINT]!);
}

test('a sample is what there was since the one before, of all shards', () => {
  const [one, two] = [new InvocationTotals(), new InvocationTotals()];
  one.add(ENDPOINT, 0, 1, 0);
  const live = samplesOf(one, two);
  for (let n = 0; n < 98; n++) one.add(ENDPOINT, 0, 2, 0);
  two.add(ENDPOINT, 1, 2, 0);
  two.add(ENDPOINT, 2, 100, 0);
  // Commands do not count as requests.
  two.add(1, 3, 1, 0);
  live.sample(AT_MS);
  live.sample(AT_MS + 1_000);
  const [busy, quiet] = live.seconds;
  expect(busy).toMatchObject({
    at: '2026-11-22T01:02:03.000Z',
    requests: 100,
    ok: 98,
    refused: 1,
    failed: 1,
    timedOut: 0,
  });
  expect(busy!.p50Ms).toBeGreaterThan(1.5);
  expect(busy!.p50Ms).toBeLessThanOrEqual(2);
  expect(busy!.p99Ms).toBeLessThanOrEqual(2);
  expect(quiet).toEqual({
    at: '2026-11-22T01:02:04.000Z',
    requests: 0,
    ok: 0,
    refused: 0,
    failed: 0,
    timedOut: 0,
    p50Ms: null,
    p95Ms: null,
    p99Ms: null,
  });
});

test('two minutes are kept', () => {
  const totals = new InvocationTotals();
  const live = samplesOf(totals);
  for (let second = 0; second < 130; second++) {
    if (second === 129) totals.add(ENDPOINT, 3, 1, 0);
    live.sample(AT_MS + second * 1_000);
  }
  expect(live.seconds).toHaveLength(120);
  expect(live.seconds[0]!.at).toBe('2026-11-22T01:02:13.000Z');
  expect(live.seconds.at(-1)).toMatchObject({ requests: 1, timedOut: 1 });
});
