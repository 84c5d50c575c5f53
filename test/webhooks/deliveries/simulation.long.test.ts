// Random histories with power failures. `npm run webhooks:simulation` plays more of them, or one that has failed again.
import { expect, test } from 'vitest';
import { simulated } from './simulation.ts';

const HISTORIES = Number(process.env['SVC_TEST_HISTORIES'] ?? 60);
const SEED = Number(process.env['SVC_TEST_SEED'] ?? 1_000);
/** Histories of one test. */
const BATCH = 20;

test.each(Array.from({ length: Math.ceil(HISTORIES / BATCH) }, (_, batch) => SEED + batch * BATCH))(
  'histories from seed %i on keep every promise',
  async (first) => {
    const failed: string[] = [];
    for (let seed = first; seed < Math.min(first + BATCH, SEED + HISTORIES); seed++) {
      const { complaints } = await simulated(seed);
      failed.push(...complaints.map((complaint) => `seed ${seed}: ${complaint}`));
    }
    expect(failed).toEqual([]);
  },
);
