// HistoryFleet: runs histories side by side on one control plane, and what happens to it between their rounds.
import { expect } from 'vitest';
import { SETTLE_AFTER_MS } from '../../../control-plane/model/claims.ts';
import type { Driver } from './driver.ts';
import { HistoryRun, type History, type Incident } from './histories.ts';

/** A control plane that histories are sent to. */
export interface Target {
  readonly driver: Driver;
  restart(): Promise<void>;
  /** The requests of the next round are cut off: see the driver. */
  beginKill(afterCalls: number): void;
  endKill(): Promise<void>;
  /** Lets time pass for the control plane. */
  passTime(ms: number): void;
  stop(): Promise<void>;
}

/** Runs the histories, and fails if no order explains an answer. */
export async function runHistories(
  target: Target,
  histories: readonly History[],
  incidents: Incident,
): Promise<void> {
  const runs = histories.map((history, n) => new HistoryRun(target.driver, `zz${n}z`, history));
  const all = async (each: (run: HistoryRun) => Promise<void>) => {
    await Promise.all(runs.map(each));
  };
  await all((run) => run.begin());
  for (const [index, { kind, afterCalls }] of incidents.entries()) {
    const wasUnsettled = runs.some(({ isUnsettled }) => isUnsettled);
    if (kind === 'kill') {
      for (const run of runs) run.isUnsettled = true;
      target.beginKill(afterCalls);
    }
    await all((run) => run.round(index));
    if (kind === 'kill') await target.endKill();
    if (kind === 'restart') await target.restart();
    if (wasUnsettled && kind !== 'kill') await settle(target, runs);
  }
  await settle(target, runs);
  await all((run) => run.end());
}

/** What was cut off is settled once 30 s have passed. */
async function settle(target: Target, runs: readonly HistoryRun[]): Promise<void> {
  target.passTime(SETTLE_AFTER_MS);
  for (const run of runs) {
    await expect.poll(() => run.settled(), { interval: 10 }).toBeUndefined();
    run.isUnsettled = false;
  }
}
