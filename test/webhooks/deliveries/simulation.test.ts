// A random history with power failures; simulation.long.test.ts has more of them.
import { expect, test } from 'vitest';
import { simulated } from './simulation.ts';

test.each([1])('nothing is lost, and nothing is sent early or unlogged (seed %i)', async (seed) => {
  const { complaints, sent } = await simulated(seed);
  expect(complaints).toEqual([]);
  expect(sent).toBeGreaterThan(0);
});
