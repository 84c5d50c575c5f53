import { describe, expect, test } from 'vitest';
import { RestartPauses } from '../../../host/shards/restart-pauses.ts';
import { SUPERVISOR_LIMITS_DEFAULT } from '../../../host/shards/supervisor-limits.ts';

const MINUTE_MS = 60_000;

/** Returns the pauses after shards that served for these times. */
function pauses(...servedMs: readonly number[]): number[] {
  const breaker = new RestartPauses(SUPERVISOR_LIMITS_DEFAULT);
  return servedMs.map((ms) => breaker.next(ms));
}

describe('the pause before a restart', () => {
  test('doubles with each end, up to its limit', () => {
    expect(pauses(...Array.from({ length: 12 }, () => 0))).toEqual([
      100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000, 30_000,
    ]);
  });

  test('grows for a module that ends a little more than once a minute, too', () => {
    const [first, second, , , , , last] = pauses(...Array.from({ length: 7 }, () => 61_000));
    expect(first).toBe(100);
    expect(second).toBeGreaterThan(180);
    expect(last).toBeGreaterThan(2_000);
  });

  test('is short again after the module has served for long, little by little', () => {
    const crowd = Array.from({ length: 10 }, () => 0);
    expect(pauses(...crowd, 1 * MINUTE_MS).at(-1)).toBe(30_000);
    expect(pauses(...crowd, 10 * MINUTE_MS).at(-1)).toBe(3_200);
    expect(pauses(...crowd, 24 * 60 * MINUTE_MS).at(-1)).toBe(100);
  });

  test('knows how many ends there were', () => {
    const breaker = new RestartPauses(SUPERVISOR_LIMITS_DEFAULT);
    breaker.next(0);
    breaker.next(24 * 60 * MINUTE_MS);
    expect(breaker.ends).toBe(2);
  });
});
