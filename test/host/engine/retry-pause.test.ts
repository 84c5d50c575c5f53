// The pauses between attempts: within a limit that doubles, and spread over it.
import { expect, test } from 'vitest';
import { retryPauseMs } from '../../../host/engine/retry-pause.ts';
import { TIMER_SETTINGS_DEFAULT } from '../../../host/engine/timer-settings.ts';

const drawing = (value: bigint) => ({ next64: () => value });

test.each([
  [1, 1_000],
  [2, 2_000],
  [3, 4_000],
  [9, 256_000],
  [10, 300_000],
  [1_000_000, 300_000],
])('the pause after %i failures is less than %i ms, and may be nothing', (failures, limitMs) => {
  const pause = (value: bigint) => retryPauseMs(failures, TIMER_SETTINGS_DEFAULT, drawing(value));
  expect(pause(0n)).toBe(0);
  expect(pause(BigInt(limitMs) - 1n)).toBe(limitMs - 1);
  expect(pause(BigInt(limitMs))).toBe(0);
  expect(pause(2n ** 64n - 1n)).toBeLessThan(limitMs);
});

test('pauses are spread over the whole of their limit', () => {
  let state = 1n;
  const random = {
    next64: () => (state = BigInt.asUintN(64, state * 6_364_136_223_846_793_005n + 1n)) >> 20n,
  };
  const tenths = new Set<number>();
  for (let index = 0; index < 1000; index += 1)
    tenths.add(Math.floor(retryPauseMs(1, TIMER_SETTINGS_DEFAULT, random) / 100));
  expect(tenths.size).toBe(10);
});
