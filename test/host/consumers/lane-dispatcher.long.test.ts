// Hundreds of random histories of a consumer's dispatcher, with crashes. SVC_TEST_HISTORIES sets how many, in twenties.
import { expect, test } from 'vitest';
import { runHistory } from '../../support/consumers/consumer-history.ts';

const HISTORIES = Number(process.env['SVC_TEST_HISTORIES'] ?? 300);
const PER_TEST = 20;

test.each(Array.from({ length: HISTORIES / PER_TEST }, (_, index) => 1000 + index * PER_TEST))(
  'twenty histories from seed %i on keep every promise',
  async (first) => {
    const found: string[] = [];
    let [delivered, parked, crashes] = [0, 0, 0];
    for (let seed = first; seed < first + PER_TEST; seed += 1) {
      // oxlint-disable-next-line no-await-in-loop -- the memory of one history at a time
      const result = await runHistory(seed, seed % 10 === 0 ? 300 : 40);
      delivered += result.delivered;
      parked += result.parked;
      crashes += result.crashes;
      found.push(...result.violations.map((violation) => `seed ${seed}: ${violation}`));
    }
    expect(found).toEqual([]);
    expect(delivered).toBeGreaterThan(1000);
    expect(parked).toBeGreaterThan(10);
    expect(crashes).toBeGreaterThan(20);
  },
  120_000,
);
