// Heartbeat with a clock of the test.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Heartbeat } from '../../../host/shards/heartbeat.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function heartbeat() {
  const ask = vi.fn();
  const onHang = vi.fn();
  return { ask, onHang, beat: new Heartbeat({ heartbeatMs: 100, hangAfterMs: 300, ask, onHang }) };
}

test('a shard that answers is asked again and again', () => {
  const { beat, ask, onHang } = heartbeat();
  for (let turn = 0; turn < 50; turn++) {
    vi.advanceTimersByTime(100);
    beat.answered();
  }
  expect(ask).toHaveBeenCalledTimes(50);
  expect(onHang).not.toHaveBeenCalled();
});

test('a thread that does not answer is asked once, given its time, and reported once', () => {
  const { ask, onHang } = heartbeat();
  vi.advanceTimersByTime(300);
  expect(onHang).not.toHaveBeenCalled();
  vi.advanceTimersByTime(100);
  expect(onHang).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(10_000);
  expect(ask).toHaveBeenCalledTimes(1);
  expect(onHang).toHaveBeenCalledTimes(1);
});

test('a shard that answers late begins anew', () => {
  const { beat, onHang } = heartbeat();
  for (let turn = 0; turn < 20; turn++) {
    vi.advanceTimersByTime(300);
    beat.answered();
  }
  expect(onHang).not.toHaveBeenCalled();
});

test('time in which no answer could have been received does not count', () => {
  const { onHang } = heartbeat();
  vi.advanceTimersByTime(100);
  vi.setSystemTime(Date.now() + 3_600_000);
  vi.advanceTimersByTime(100);
  expect(onHang).not.toHaveBeenCalled();
});

test('after a stop nobody is asked', () => {
  const { beat, ask } = heartbeat();
  beat.stop();
  vi.advanceTimersByTime(10_000);
  expect(ask).not.toHaveBeenCalled();
});
