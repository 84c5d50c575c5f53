// When attempts are made, whatever the clock says.
import { expect, test } from 'vitest';
import { isEarly, PAUSE_MS, waitOf } from '../../../webhooks/model/attempt-schedule.ts';

test('an attempt waits until it is due, and ten seconds at most', () => {
  const waits = [-1, 0, 4_000, 10_000, 13_000, 86_400_000].map((aheadMs) =>
    waitOf({ dueAtMs: 1_000_000 + aheadMs }, 1_000_000),
  );
  expect(waits).toEqual([0, 0, 4_000, 10_000, 10_000, 10_000]);
});

test('an attempt that is further ahead than the pause before it is not early: the clock was set back', () => {
  const early = [0, 1, 10_000, 10_001].map((aheadMs) => isEarly({ dueAtMs: aheadMs }, 0, PAUSE_MS));
  expect(early).toEqual([false, true, true, false]);
});
