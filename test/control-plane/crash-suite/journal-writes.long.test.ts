// A crash at every commit of the journal during a scripted day of the control plane, and at some of the other writes.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { faultDiskProblem } from '../../support/crash/fault-disk.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { crashedDays } from './crashed-days.ts';
import { DAY } from './scripted-day.ts';

const problem = faultDiskProblem();
beforeEach((context) => context.skip(problem !== undefined, problem));
// Threads of control planes load their code in a third of the time.
vi.stubEnv('NODE_COMPILE_CACHE', temporaryFolderOfFile());
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('a control plane that crashes at any write of its journal has what it answered, and settles the rest in 30 s', async () => {
  const { day, answered, violations } = await crashedDays({
    scratch: temporaryFolder(),
    seed: 1,
    oneOf: 500,
  });
  expect(violations).toEqual([]);
  // Each request of the day was done, and there was a crash in the midst of each.
  expect(day.filter(({ answer }) => (answer?.status ?? 500) >= 300)).toEqual([]);
  expect(new Set(answered)).toEqual(new Set(Array.from({ length: DAY.length + 1 }, (_, n) => n)));
  expect(answered.length).toBeGreaterThan(2 * DAY.length);
}, 300_000);
