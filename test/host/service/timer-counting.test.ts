// How often the timers of a journal are counted for the metrics.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { TimerCounting } from '../../../host/service/timer-counting.ts';
import { TimerSeries } from '../../../host/storage/timer-series.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A counting of which the second count fails. `tookMs`: how long each takes. */
function counting(tookMs = 0) {
  const series = new TimerSeries();
  const failures: unknown[] = [];
  const failure = new Error('away');
  let count = 0;
  const counts = () => {
    vi.advanceTimersByTime(tookMs);
    count++;
    if (count === 2) throw failure;
    return { pending: count, dead: 0, earliestMs: undefined };
  };
  const onFailure = (error: unknown) => failures.push(error);
  const started = new TimerCounting({ counts, series, onFailure });
  started.start();
  return { series, failures, failure, started, pending: () => series.read().pending };
}

test('they are counted at once and every two seconds, also after a failure, until the stop', async () => {
  const { failures, failure, started, pending } = counting();
  await vi.advanceTimersByTimeAsync(0);
  expect(pending()).toBe(1);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(failures).toEqual([failure]);
  expect(pending()).toBe(1);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(pending()).toBe(3);
  started.stop();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(pending()).toBe(3);
});

test('a count that takes long is followed by a pause of a hundred times its time', async () => {
  const { failures } = counting(50);
  await vi.advanceTimersByTimeAsync(4_999);
  expect(failures).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(failures).toHaveLength(1);
});
