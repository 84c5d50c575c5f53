// TestRun: runs named tests in a copy of the sources, and reports which passed and which failed.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { testNamePattern } from '../../test/support/test-names.ts';

/** Path of a test file from the root, and the name of a test in it. */
export type NamedTest = readonly [file: string, name: string];

export interface TestRun {
  /** False: the run exceeded its time and was killed. */
  readonly ended: boolean;
  /** Tests as `FILE › NAME`. */
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  /** Test files that did not load; all test files if the run ended without a report. */
  readonly broken: readonly string[];
}

interface VitestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

/** Runs the named tests in a copy of the sources; a run that takes longer than `timeoutMs` is killed. */
export async function runTests(
  root: string,
  tree: string,
  tests: readonly NamedTest[],
  timeoutMs: number,
): Promise<TestRun> {
  const files = [...new Set(tests.map(([file]) => file))];
  const pattern = [...new Set(tests.map(patternOf))].map((one) => `(?:${one})`).join('|');
  const report = join(tree, 'build', 'report.json');
  rmSync(report, { force: true });
  const ended = await runVitest(
    root,
    tree,
    [
      'run',
      ...files,
      '-t',
      pattern,
      '--maxWorkers=1',
      // A mutant that ends its process does not take the results of other files with it.
      '--isolate',
      '--reporter=json',
      `--outputFile=${report}`,
    ],
    timeoutMs,
  );
  if (!existsSync(report)) return { ended, passed: [], failed: [], broken: ended ? files : [] };
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as VitestReport;
  const named = (status: string) =>
    testResults.flatMap(({ name, assertionResults }) =>
      assertionResults
        .filter((result) => result.status === status)
        .map(({ fullName }) => `${name.slice(tree.length + 1)} › ${fullName}`),
    );
  const broken = testResults
    .filter(({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0)
    .map(({ name }) => name);
  return { ended, passed: named('passed'), failed: named('failed'), broken };
}

/** Runs vitest. Resolves with true if the run ended by itself, and with false if it was killed. */
function runVitest(
  root: string,
  tree: string,
  args: readonly string[],
  timeoutMs: number,
): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(join(root, 'node_modules', '.bin', 'vitest'), args, {
      cwd: tree,
      stdio: 'ignore',
      // Vitest runs in a process group of its own, so that its workers end with it.
      detached: true,
    });
    let ended = true;
    const timer = setTimeout(() => {
      ended = false;
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, timeoutMs);
    child.on('exit', () => {
      clearTimeout(timer);
      resolve(ended);
    });
  });
}

/** Returns the regular expression by which the test runner selects a test. */
export function patternOf([file, name]: NamedTest): string {
  return testNamePattern(file, name)!;
}
