import { expect, test } from 'vitest';
import { runTests, type VitestReport, type VitestRun } from '../../scripts/test-run.ts';

type Outcomes = Readonly<Record<string, 'passed' | 'failed' | 'unloadable'>>;

/** A run with one test for each file. */
function runOf(outcomes: Outcomes, isGreen = Object.values(outcomes).every((o) => o === 'passed')) {
  const testResults = Object.entries(outcomes).map(([name, outcome]) => ({
    name: `/root/${name}`,
    status: outcome === 'passed' ? ('passed' as const) : ('failed' as const),
    startTime: 1_000,
    endTime: 3_000,
    assertionResults: outcome === 'unloadable' ? [] : [{ fullName: 'works', status: outcome }],
  }));
  const counted = (status: string) =>
    testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .filter((r) => r.status === status).length;
  const report: VitestReport = {
    numPassedTests: counted('passed'),
    numFailedTests: counted('failed'),
    testResults,
  };
  return { report, isGreen };
}

function ran(runs: readonly (VitestRun | undefined)[], isTier = true) {
  const selections: (readonly string[])[] = [];
  const printed: string[] = [];
  const counted = runTests({
    selection: ['--project=long'],
    isTier,
    root: '/root',
    run: (selection) => runs[selections.push(selection) - 1],
    print: (line) => printed.push(line),
  });
  const slow = printed.filter((line) => line.startsWith('slow: '));
  return { ...counted, selections, slow, printed: printed.filter((line) => !slow.includes(line)) };
}

test('a tier in which everything passes is run once', () => {
  const { passed, failed, selections, printed } = ran([runOf({ a: 'passed', b: 'passed' })]);
  expect({ passed, failed, printed }).toEqual({ passed: 2, failed: 0, printed: [] });
  expect(selections).toEqual([['--project=long']]);
});

test('the files of a tier that took longest are named, the slowest first', () => {
  const { report } = runOf(
    Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`f${n}`, 'passed' as const])),
  );
  const testResults = report.testResults.map((result, n) => ({
    ...result,
    endTime: 1_000 * (n + 1),
  }));
  const run = { report: { ...report, testResults }, isGreen: true };
  const { slow } = ran([run]);
  expect([slow.length, slow[0], slow.at(-1)]).toEqual([15, 'slow: 19 s f19', 'slow: 5 s f5']);
  expect(ran([run], false).slow).toEqual([]);
});

test('the file of a failed test is run again, and a test that passes then is named', () => {
  const { passed, failed, selections, printed } = ran([
    runOf({ a: 'passed', b: 'failed', c: 'failed' }),
    runOf({ b: 'passed', c: 'failed' }),
  ]);
  expect({ passed, failed }).toEqual({ passed: 2, failed: 1 });
  expect(selections[1]).toEqual(['--project=long', '/root/b', '/root/c']);
  expect(printed).toEqual([
    'failed once, passed when it was repeated: b > works',
    'failed: c > works',
  ]);
});

test('a file that cannot be loaded is a failure', () => {
  const { passed, failed, printed } = ran([
    runOf({ a: 'passed', b: 'unloadable' }),
    runOf({ b: 'unloadable' }),
  ]);
  expect({ passed, failed, printed }).toEqual({
    passed: 1,
    failed: 1,
    printed: ['failed: b > (the whole file)'],
  });
});

test('what fails only when a file is repeated is a failure, and so is an error outside of tests then', () => {
  expect(
    ran([runOf({ a: 'passed', b: 'failed' }), runOf({ b: 'passed', c: 'unloadable' })]),
  ).toMatchObject({ passed: 1, failed: 1 });
  expect(ran([runOf({ b: 'failed' }), runOf({ b: 'passed' }, false)])).toMatchObject({ failed: 1 });
});

test('with many failed files nothing is run again', () => {
  const many = Object.fromEntries(
    Array.from({ length: 6 }, (_, n) => [`f${n}`, 'failed' as const]),
  );
  const { failed, selections } = ran([runOf(many)]);
  expect([failed, selections.length]).toEqual([6, 1]);
});

test('files that somebody has named are not run again', () => {
  const { failed, selections } = ran([runOf({ a: 'failed' })], false);
  expect([failed, selections.length]).toEqual([1, 1]);
});

test('an error outside of tests is a failure, and so is a run that ends without a report', () => {
  expect(ran([runOf({ a: 'passed' }, false)])).toMatchObject({ passed: 1, failed: 1 });
  expect(ran([undefined])).toMatchObject({ passed: 0, failed: 1 });
  expect(ran([runOf({ a: 'failed' }), undefined])).toMatchObject({ passed: 0, failed: 1 });
});
