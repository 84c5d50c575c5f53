// More histories than in the main tier, also of a process that is killed. `npm run control-plane:model` sets their number and seed.
import { expect, test } from 'vitest';
import { checkHistories, type HistoryCheck } from './check-histories.ts';
import { FlowTarget } from './flow-target.ts';
import { HttpTarget } from './http-target.ts';
import { ProcessTarget } from './process-target.ts';

const { SVC_TEST_HISTORIES: count = '400', SVC_TEST_SEED: seed = '1' } = process.env;
/** More than a history takes on a busy machine. */
const MS_PER_HISTORY = 5000;

const STARTS: readonly (readonly [string, number, HistoryCheck['start']])[] = [
  ['of flows that are cut off at any call', 0.5, (folder) => FlowTarget.start(folder)],
  ['over HTTP', 0.4, (folder) => HttpTarget.start(folder)],
  ['of a process that is killed', 0.1, (folder) => ProcessTarget.start(folder)],
];

test.each(STARTS)(
  'some order explains every answer %s',
  async (_what, part, start) => {
    const checked = checkHistories({
      start,
      count: 20 * Math.ceil((Number(count) * part) / 20),
      seed: Number(seed),
    });
    await expect(checked).resolves.toBeUndefined();
  },
  MS_PER_HISTORY * Number(count),
);
