// CheckHistories: sends many random histories to control planes, and expects that some order explains every answer.
import { assert, asyncProperty } from 'fast-check';
import { onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { histories, incidents } from './histories.ts';
import { runHistories, type Target } from './history-fleet.ts';

/** Histories that share a control plane, whose start takes longer than a history. */
const SIDE_BY_SIDE = 20;

export interface HistoryCheck {
  readonly start: (dataFolder: string) => Promise<Target>;
  /** Number of histories, a multiple of 20. */
  readonly count: number;
  readonly seed: number;
}

/** Rejects with the requests and answers of a history that no order explains. */
export async function checkHistories({ start, count, seed }: HistoryCheck): Promise<void> {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const property = asyncProperty(histories(SIDE_BY_SIDE), incidents, async (found, between) => {
    const target = await start(temporaryFolder());
    try {
      await runHistories(target, found, between);
    } finally {
      await target.stop();
    }
  });
  // A failure says what was sent and answered in one history. Shrinking would start control planes for minutes.
  await assert(property, {
    numRuns: count / SIDE_BY_SIDE,
    endOnFailure: true,
    seed,
  });
}
