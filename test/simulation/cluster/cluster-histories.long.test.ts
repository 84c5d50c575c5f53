// Random histories of a cluster. `npm run cluster:simulation` plays more of them, or one that has failed again.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { useVirtualGlobals } from '../../support/virtual/virtual-globals.ts';
import { simulated } from './simulation.ts';

vi.mock(
  import('../../../host/storage/postgres/connect-database.ts'),
  async () => import('./modelled-connections.ts'),
);
vi.mock(
  import('../../../model/slice.ts'),
  async (original) => (await import('./fewer-slices.ts')).fewerSlices(await original()) as never,
);

const HISTORIES = Number(process.env['SVC_TEST_HISTORIES'] ?? 100);
const SEED = Number(process.env['SVC_TEST_SEED'] ?? 1_000);
/** Histories of one test. */
const BATCH = 50;

let restore: () => void;
beforeAll(() => {
  restore = useVirtualGlobals();
});
afterAll(() => restore());

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
