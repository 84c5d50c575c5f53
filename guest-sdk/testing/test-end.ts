// TestEnd: checks that run at the end of a test.
import { afterAll, onTestFailed, onTestFinished } from 'vitest';
import { type StackStart, TestFailure, restacked } from './test-failure.ts';

/**
 * Runs a check after the current test has passed, or outside of a test after all tests of the file or suite. After a
 * failed test the check is skipped, because the test's own failure says more. The stack of an error begins at the call
 * of `stackStart`.
 */
export function atTestEnd(check: () => unknown, stackStart: StackStart): void {
  const site = new TestFailure('', stackStart);
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

/** Prints lines that may explain the failure of the current test, if the test fails. */
export function atTestFailure(words: () => readonly string[]): void {
  try {
    onTestFailed(() => {
      for (const line of words()) console.log(line);
    });
  } catch {
    // Outside of a test there is no failure.
  }
}
