// A control plane in a process of its own that is killed again and again while it answers many requests at the same time: some
// order of the requests explains every answer, and what was cut off is settled in 30 s. SVC_TEST_KILLS sets how often.
import { array, constant, nat, record, sample, type Arbitrary } from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { temporaryFolder, temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import type { Driver } from '../model-suite/driver.ts';
import { histories, type Incident } from '../model-suite/histories.ts';
import { runHistories, type Target } from '../model-suite/history-fleet.ts';
import { ProcessTarget } from '../model-suite/process-target.ts';

const { SVC_TEST_KILLS: kills = '12', SVC_TEST_SEED: seed = '1' } = process.env;
const SIDE_BY_SIDE = 6;
/** One in each round of the histories. */
const KILLS_PER_FLEET = 6;
/** More than a kill and the start after it take on a busy machine. */
const MS_PER_KILL = 15_000;

/** Each kill comes 4 to 44 ms after the requests of its round are sent. */
const incidents: Arbitrary<Incident> = array(
  record({ kind: constant('kill' as const), afterCalls: nat(10).map((more) => more + 1) }),
  { minLength: KILLS_PER_FLEET, maxLength: KILLS_PER_FLEET },
);

// Processes load their code faster.
vi.stubEnv('NODE_COMPILE_CACHE', temporaryFolderOfFile());
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test(
  'a control plane that is killed under load has what it answered, and settles the rest in 30 s',
  async () => {
    const counts = { answered: 0, cutOff: 0 };
    const fleets = Math.ceil(Number(kills) / KILLS_PER_FLEET);
    for (let fleet = 0; fleet < fleets; fleet++) {
      const drawn = { seed: Number(seed) + fleet, numRuns: 1 };
      const [found] = sample(histories(SIDE_BY_SIDE), drawn);
      const [between] = sample(incidents, drawn);
      const target = counting(await ProcessTarget.start(temporaryFolder()), counts);
      try {
        await runHistories(target, found!, between!);
      } catch (error) {
        throw new Error(`with SVC_TEST_SEED=${drawn.seed}: ${String(error)}`, { cause: error });
      } finally {
        await target.stop();
      }
    }
    expect(counts.answered).toBeGreaterThan(50 * fleets);
    // Kills come in the midst of requests.
    expect(counts.cutOff).toBeGreaterThan(10 * fleets);
  },
  MS_PER_KILL * Number(kills),
);

/** Counts the requests that the target answers, and those whose outcome is not known. */
function counting(target: Target, counts: { answered: number; cutOff: number }): Target {
  const driver: Driver = {
    async send(sent) {
      const answer = await target.driver.send(sent);
      if (answer === undefined) counts.cutOff++;
      else counts.answered++;
      return answer;
    },
    expectSettled: (run) => target.driver.expectSettled(run),
  };
  return {
    driver,
    restart: () => target.restart(),
    beginKill: (afterCalls) => target.beginKill(afterCalls),
    endKill: () => target.endKill(),
    passTime: (ms) => target.passTime(ms),
    stop: () => target.stop(),
  };
}
