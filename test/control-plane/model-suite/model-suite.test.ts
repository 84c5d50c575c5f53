// Random histories of requests, up to eight at the same time, with restarts and kills between: some order explains every answer.
import { expect, test } from 'vitest';
import { checkHistories } from './check-histories.ts';
import { FlowTarget } from './flow-target.ts';
import { HttpTarget } from './http-target.ts';

/** The same for each run, so that a change is not held up by what it has not done. */
const SEED = 1;

test('some order explains every answer of flows that are cut off at any call', async () => {
  const checked = checkHistories({
    start: (folder) => FlowTarget.start(folder),
    count: 140,
    seed: SEED,
  });
  await expect(checked).resolves.toBeUndefined();
});

test('some order explains every answer over HTTP', async () => {
  const checked = checkHistories({
    start: (folder) => HttpTarget.start(folder),
    count: 60,
    seed: SEED,
  });
  await expect(checked).resolves.toBeUndefined();
});
