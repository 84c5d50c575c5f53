// Control planes with a planted fault: the histories that find nothing in a right one find each of them.
import { expect, test } from 'vitest';
import { checkHistories } from './check-histories.ts';
import { FlowTarget } from './flow-target.ts';
import { PLANTED_FAULTS } from './planted-faults.ts';

/** As many as the main tier sends to a right one. */
const HISTORIES_MAX = 140;

test.each(PLANTED_FAULTS)('%s is found', async (_what, plant) => {
  const found: unknown = await checkHistories({
    start: (folder) => FlowTarget.start(folder, plant()),
    count: HISTORIES_MAX,
    seed: 1,
  }).then(
    () => undefined,
    (error: unknown) => (error as Error).cause,
  );
  // An error of another kind would be one of the planting.
  expect(String(found)).toMatch(/no order explains the answers|is claimed|claims of|holder of/);
});
