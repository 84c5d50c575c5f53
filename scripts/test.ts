// Runs the checks and the tests. The last line is `N passed, N failed`; a failed check counts as one failure.
// - `npm test`: types, lint, format, fixtures, and the tests of the main tier.
// - `npm test -- PATH …`: types; and lint, format and tests of the files that belong to the paths, in both tiers.
// - `npm run test:long`: the tests of the long tier (`*.long.test.ts`).
// - `npm run check`: the checks of `npm test` without the tests.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { testScope } from './test-scope.ts';

type Step = readonly [name: string, command: string, ...rest: string[]];

const root = join(import.meta.dirname, '..');
/** Results of the compiler's last run; only changed files are checked again. */
const TYPES = join('build', 'types.tsbuildinfo');
const LINT = ['oxlint', '--type-aware', '--deny-warnings', '--no-error-on-unmatched-pattern'];
const FORMAT = ['oxfmt', '--check', '--no-error-on-unmatched-pattern'];
const CONSOLE_PAGE: Step = ['console', 'node', 'scripts/build-console.ts'];
/** Matches the paths whose tests use the page of the console. */
const USES_CONSOLE_PAGE = /^(?:test\/)?(?:browser|cli|console|programs|scripts)(?:\/|$)/;

/** Preparations of the tests. Tests that run alone compile the fixtures that they need themselves. */
const preparations: readonly Step[] = [
  ['fixtures', 'node', 'scripts/build-fixtures.ts'],
  CONSOLE_PAGE,
];

function checksOf(sources: readonly string[]): readonly Step[] {
  const ofConsole: Step = ["console's types", 'tsc', '--noEmit', '-p', 'console'];
  const isConsole = sources.length === 0 || sources.some((path) => path.startsWith('console'));
  return [
    ['types', 'tsc', '--noEmit', '--incremental', '--tsBuildInfoFile', TYPES],
    ...(isConsole ? [ofConsole] : []),
    ['lint', ...(LINT as [string]), ...sources],
    ['format', ...(FORMAT as [string]), ...sources],
  ];
}

function run(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { cwd: root, stdio: 'inherit' }).status === 0;
}

interface Counted {
  readonly passed: number;
  readonly failed: number;
}

interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numFailedTestSuites: number;
}

/** Runs the tests. A run that ends without a report counts as one failure. */
function runTests(selection: readonly string[]): Counted {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
  const report = join(folder, 'report.json');
  try {
    // The processes and threads that tests start share the compiled sources with the command line (cli/bin/svc.js).
    process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules', '.cache', 'svc');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const green = run('vitest', ['run', ...reporters, ...selection]);
    if (!existsSync(report)) return { passed: 0, failed: 1 };
    const result = JSON.parse(readFileSync(report, 'utf8')) as VitestReport;
    const failed = Math.max(result.numFailedTests, result.numFailedTestSuites, green ? 0 : 1);
    return { passed: result.numPassedTests, failed };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Plan {
  readonly steps: readonly Step[];
  /** Arguments for vitest; undefined: no tests. */
  readonly selection: readonly string[] | undefined;
}

function planOf(args: readonly string[]): Plan {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      'checks-only': { type: 'boolean', default: false },
      long: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  if (positionals.length > 0) {
    const { filters, sources } = testScope(root, positionals);
    const needsPage = filters.some((filter) => USES_CONSOLE_PAGE.test(filter));
    return {
      steps: [...checksOf(sources), ...(needsPage ? [CONSOLE_PAGE] : [])],
      selection: filters.length === 0 ? undefined : filters,
    };
  }
  if (values.long) return { steps: preparations, selection: ['--project=long'] };
  return {
    steps: [...checksOf([]), ...preparations],
    selection: values['checks-only'] ? undefined : ['--project=main', '--project=main-shared'],
  };
}

function planOrEnd(args: readonly string[]): Plan {
  try {
    return planOf(args);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    console.log('0 passed, 1 failed');
    process.exit(1);
  }
}

const { steps, selection } = planOrEnd(process.argv.slice(2));
const broken: string[] = [];
for (const [name, command, ...rest] of steps) if (!run(command, rest)) broken.push(name);
const tests = selection === undefined ? { passed: 0, failed: 0 } : runTests(selection);
for (const name of broken) console.log(`the ${name} check failed; its messages are above`);
console.log(`${tests.passed} passed, ${tests.failed + broken.length} failed`);
process.exit(tests.failed + broken.length === 0 ? 0 : 1);
