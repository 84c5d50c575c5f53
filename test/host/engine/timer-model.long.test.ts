// 3,000 random histories of timers and firings, others in each run; timer-model.test.ts runs some hundreds. SVC_TEST_HISTORIES sets how many.
import { expect, test } from 'vitest';
import { TimerHistory } from '../../support/timer-histories.ts';

const HISTORIES = Number(process.env['SVC_TEST_HISTORIES'] ?? 3_000);
const FAULTS = ['none', 'failed', 'unknown'] as const;

test('each occurrence has its effect once, and what is stored first wins, in thousands of histories', async () => {
  const first = Math.floor(Math.random() * 2 ** 31);
  for (let seed = first; seed < first + HISTORIES; seed++) {
    const faults = FAULTS[seed % FAULTS.length]!;
    const history = new TimerHistory(seed, faults);
    await history.run();
    expect(history.problems, `seed ${seed}, ${faults}`).toEqual([]);
  }
}, 1_200_000);
