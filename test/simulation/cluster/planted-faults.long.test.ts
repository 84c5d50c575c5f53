// Faults of the database that the histories find. Faults of the production code are rows of test/mutants/cluster.json.
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

/** A fault is found within so many histories. */
const HISTORIES = 100;

let restore: () => void;
beforeAll(() => {
  restore = useVirtualGlobals();
});
afterAll(() => restore());

test('a fence that locks nothing is found', async () => {
  const complaints: string[] = [];
  for (let seed = 1; seed <= HISTORIES && complaints.length === 0; seed++)
    complaints.push(...(await simulated(seed, { flaws: { fenceLocksNothing: true } })).complaints);
  expect(complaints).not.toEqual([]);
});
