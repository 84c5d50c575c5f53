// Hundreds of random histories of the dispatcher, each an hour of virtual time at most, and weeks. SVC_TEST_HISTORIES sets how many, in hundreds.
import { expect, test } from 'vitest';
import { runHistory } from '../../support/timers/timer-history.ts';

const HISTORIES = Number(process.env['SVC_TEST_HISTORIES'] ?? 500);
const PER_TEST = 100;
const WEEK_MS = 7 * 86_400_000;

test.each(Array.from({ length: HISTORIES / PER_TEST }, (_, index) => 1000 + index * PER_TEST))(
  'a hundred histories from seed %i on keep every promise',
  async (first) => {
    const found: string[] = [];
    let [started, missed] = [0, 0];
    for (let seed = first; seed < first + PER_TEST; seed += 1) {
      // oxlint-disable-next-line no-await-in-loop -- the memory of one history at a time
      const result = await runHistory(seed, seed % 10 === 0 ? 3_600_000 : 300_000);
      started += result.started;
      missed += result.missed;
      found.push(...result.violations.map((violation) => `seed ${seed}: ${violation}`));
    }
    expect(found).toEqual([]);
    expect(started).toBeGreaterThan(1000);
    expect(missed).toBeGreaterThan(1000);
  },
  120_000,
);

test.each([1, 2])(
  'a week of timers from seed %i keeps every promise',
  async (seed) => {
    const { violations, started } = await runHistory(seed, WEEK_MS);
    expect(violations).toEqual([]);
    expect(started).toBeGreaterThan(1000);
  },
  300_000,
);
