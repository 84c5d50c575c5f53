// TestRun runs vitest over a selection of tests and counts what passed. The tests of a tier wait for processes, browsers and disks,
// so a few may fail on a busy machine: the files of a few failed tests are run once more, by themselves. A test that passes then
// counts as passed, and is named in the output, because it has to be made reliable all the same. So are the files that took
// longest, because a tier has a limit.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/** With more failed files than these something is broken, and nothing is run again. */
const REPEATED_FILES_MAX = 5;
/** Number of files of a tier that are named because they took longest. */
const SLOW_FILES = 15;
const MS_PER_S = 1_000;

export interface Counted {
  readonly passed: number;
  readonly failed: number;
}

/** A report of vitest, as far as it is read here. */
export interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    /** Path of the file, absolute. */
    readonly name: string;
    readonly status: 'passed' | 'failed';
    /** In milliseconds since 1970. */
    readonly startTime: number;
    readonly endTime: number;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
    }[];
  }[];
}

/** A run of vitest; undefined: it ended without a report. */
export interface VitestRun {
  readonly report: VitestReport;
  /** Whether vitest found nothing wrong, such as an error outside of tests. */
  readonly isGreen: boolean;
}

export interface TestRunOptions {
  /** Arguments for vitest that select tests. */
  readonly selection: readonly string[];
  /** Whether this is a whole tier: the files of a few failed tests are run once more, and the slowest files are named. */
  readonly isTier: boolean;
  readonly root: string;
  /** Runs vitest with a selection. */
  readonly run: (selection: readonly string[]) => VitestRun | undefined;
  readonly print: (line: string) => void;
}

/** Runs the tests, and prints the names of those that failed. A run that ends without a report counts as one failure. */
export function runTests({ selection, isTier, root, run, print }: TestRunOptions): Counted {
  const first = run(selection);
  if (first === undefined) return { passed: 0, failed: 1 };
  const failures = failuresOf(first.report);
  const files = [...new Set(failures.map(({ file }) => file))];
  const isRepeated = isTier && files.length > 0 && files.length <= REPEATED_FILES_MAX;
  if (isTier) for (const line of slowFiles(first.report, root)) print(line);
  const second = isRepeated ? run([...selection, ...files]) : undefined;
  const last = second ?? first;
  const left = failuresOf(last.report);
  const namesBefore = new Set(failures.map(nameOf));
  const namesLeft = new Set(left.map(nameOf));
  const passedLater = failures.filter((failure) => !namesLeft.has(nameOf(failure)));
  const failedLater = left.filter((failure) => !namesBefore.has(nameOf(failure)));
  for (const { file, test } of passedLater)
    print(`failed once, passed when it was repeated: ${relative(root, file)} > ${test}`);
  for (const { file, test } of left) print(`failed: ${relative(root, file)} > ${test}`);
  // An error outside of tests has no name.
  const others = last.isGreen || left.length > 0 ? 0 : 1;
  return {
    passed: first.report.numPassedTests + passedLater.length - failedLater.length,
    failed: left.length + others,
  };
}

function slowFiles({ testResults }: VitestReport, root: string): readonly string[] {
  return testResults
    .map(({ name, startTime, endTime }) => ({ name, seconds: (endTime - startTime) / MS_PER_S }))
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, SLOW_FILES)
    .map(({ name, seconds }) => `slow: ${seconds.toFixed(0)} s ${relative(root, name)}`);
}

interface Failure {
  readonly file: string;
  readonly test: string;
}

/** A file that could not be loaded is a failure without a test. */
function failuresOf({ testResults }: VitestReport): readonly Failure[] {
  return testResults.flatMap(({ name, status, assertionResults }) => {
    const tests = assertionResults.filter((result) => result.status === 'failed');
    if (tests.length === 0 && status === 'failed')
      return [{ file: name, test: '(the whole file)' }];
    return tests.map(({ fullName }) => ({ file: name, test: fullName }));
  });
}

function nameOf({ file, test }: Failure): string {
  return `${file} > ${test}`;
}

/** Runs vitest, which prints as it goes. */
export function runVitest(root: string, selection: readonly string[]): VitestRun | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
  const path = join(folder, 'report.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${path}`];
    const args = ['run', ...reporters, ...selection];
    const { status } = spawnSync('vitest', args, { cwd: root, stdio: 'inherit' });
    if (!existsSync(path)) return undefined;
    const report = JSON.parse(readFileSync(path, 'utf8')) as VitestReport;
    return { report, isGreen: status === 0 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
