// `npm test`: types, lint, format, fixtures, then every test. The last line is `N passed, N failed`,
// where a check that did not pass counts as one failure. `--checks-only` leaves out the tests.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const checks: readonly (readonly [name: string, command: string, ...rest: string[]])[] = [
  ['types', 'tsc', '--noEmit'],
  ["console's types", 'tsc', '--noEmit', '-p', 'console'],
  ['lint', 'oxlint', '--type-aware', '--deny-warnings'],
  ['format', 'oxfmt', '--check'],
  ['fixtures', 'node', 'scripts/build-fixtures.ts'],
  ['console', 'node', 'scripts/build-console.ts'],
];

function run(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { cwd: root, stdio: 'inherit' }).status === 0;
}

interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numFailedTestSuites: number;
}

/** Runs the tests. A run that breaks before it can report counts as one failure. */
function runTests(filters: readonly string[]): { passed: number; failed: number } {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
  const report = join(folder, 'report.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const green = run('vitest', ['run', ...reporters, ...filters]);
    if (!existsSync(report)) return { passed: 0, failed: 1 };
    const result = JSON.parse(readFileSync(report, 'utf8')) as VitestReport;
    const failed = Math.max(result.numFailedTests, result.numFailedTestSuites, green ? 0 : 1);
    return { passed: result.numPassedTests, failed };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const args = process.argv.slice(2);
const broken: string[] = [];
for (const [name, command, ...rest] of checks) if (!run(command, rest)) broken.push(name);
const tests = args.includes('--checks-only')
  ? { passed: 0, failed: 0 }
  : runTests(args.filter((arg) => !arg.startsWith('--')));
for (const name of broken) console.log(`the ${name} check failed; its messages are above`);
console.log(`${tests.passed} passed, ${tests.failed + broken.length} failed`);
process.exit(tests.failed + broken.length === 0 ? 0 : 1);
