// The orchestrator of one machine gets to what is desired, wherever it, the router or an instance was killed: 12 changes by their seeds. `npm run
// convergence` tries 500.
import { expect, test } from 'vitest';
import { ConvergenceTrial, type TrialResult } from './convergence-trial.ts';

const CHANGES = Number(process.env['SVC_TEST_CHANGES'] ?? 12);
const FIRST = Number(process.env['SVC_TEST_SEED'] ?? 1);
/** Changes of one machine. The next one begins with an empty folder. */
const OF_A_MACHINE = 20;
/** Time of one change on a busy machine, in milliseconds. */
const CHANGE_MS = 60_000;

test(
  'a machine is as desired after a kill at any step, and nothing is left over or was replaced in vain',
  { timeout: CHANGES * CHANGE_MS },
  async () => {
    const results: TrialResult[] = [];
    while (results.length < CHANGES) {
      const trial = new ConvergenceTrial();
      try {
        for (let of = 0; of < OF_A_MACHINE && results.length < CHANGES; of++)
          results.push(await trial.change(FIRST + results.length));
      } finally {
        await trial.discard();
      }
    }
    const times = results.map(({ settledMs }) => Math.round(settledMs));
    console.log(
      `${results.length} changes, each settled within ${Math.max(...times)} ms of the next start`,
    );
    expect(results.filter(({ complaints }) => complaints.length > 0)).toEqual([]);
  },
);
