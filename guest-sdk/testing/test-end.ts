// What is looked at when a test ends.
import { afterAll, onTestFailed, onTestFinished } from 'vitest';
import { type Door, TestFailure, restacked } from './test-failure.ts';

/**
 * Runs when the present test has ended well; outside of a test, after all of the file. A test that
 * has failed is left alone: its own failure says more. What it throws points at the call of `door`.
 */
export function atTestEnd(check: () => unknown, door: Door): void {
  const site = new TestFailure('', door);
  const run = async (): Promise<void> => {
    try {
      await check();
    } catch (error) {
      throw error instanceof Error ? restacked(error, site) : error;
    }
  };
  try {
    onTestFinished(({ task }) => (task.result?.state === 'fail' ? undefined : run()));
  } catch {
    afterAll(run);
  }
}

/** Tells, beside a failed test, what it may have to do with. */
export function atTestFailure(words: () => readonly string[]): void {
  try {
    onTestFailed(() => {
      for (const line of words()) console.log(line);
    });
  } catch {
    // Outside of a test none can fail.
  }
}
