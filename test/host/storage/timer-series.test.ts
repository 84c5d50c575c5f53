// The metrics of timers in shared memory.
import { expect, test } from 'vitest';
import { TimerSeries } from '../../../host/storage/timer-series.ts';

test('another thread reads the counts, which are 0 at first', () => {
  const series = new TimerSeries();
  const other = new TimerSeries(series.shared);
  expect(other.read()).toEqual({ pending: 0, dead: 0, overdueSeconds: 0 });
  series.counted({ pending: 3, dead: 1, earliestMs: 8_500 }, 10_000);
  expect(other.read()).toEqual({ pending: 3, dead: 1, overdueSeconds: 1.5 });
});

test.each([
  ['the earliest one is due later', 10_001],
  ['none is pending', undefined],
])('no timer is overdue when %s', (_what, earliestMs) => {
  const series = new TimerSeries();
  series.counted({ pending: 1, dead: 0, earliestMs: 0 }, 10_000);
  series.counted({ pending: 1, dead: 0, earliestMs }, 10_000);
  expect(series.read().overdueSeconds).toBe(0);
});
