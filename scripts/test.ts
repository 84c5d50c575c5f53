// Runs the checks and the tests. The last line is `N passed, N failed`; a failed check counts as one failure.
// - `npm test`: types, lint, format, fixtures, and the tests of the main tier.
// - `npm test -- PATH …`: types; and lint, format and tests of the files that belong to the paths, in both tiers.
// - `npm run test:long`: the tests of the long tier (`*.long.test.ts`), and those of the main tier that run on
//   another PostgreSQL server there, or have their journals in PostgreSQL.
// - `npm run check`: the checks of `npm test` without the tests.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runTests, runVitest } from './test-run.ts';
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

const LONG_PROJECTS = ['long', 'long-15', 'long-database'].map((name) => `--project=${name}`);

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

interface Plan {
  readonly steps: readonly Step[];
  /** Arguments for vitest; undefined: no tests. */
  readonly selection: readonly string[] | undefined;
  /** Whether this is a whole tier. */
  readonly isTier: boolean;
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
      isTier: false,
    };
  }
  if (values.long)
    return {
      steps: preparations,
      selection: LONG_PROJECTS,
      isTier: true,
    };
  return {
    steps: [...checksOf([]), ...preparations],
    selection: values['checks-only'] ? undefined : ['--project=main', '--project=main-shared'],
    isTier: true,
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

const { steps, selection, isTier } = planOrEnd(process.argv.slice(2));
const broken: string[] = [];
for (const [name, command, ...rest] of steps) if (!run(command, rest)) broken.push(name);
// The processes and threads that tests start share the compiled sources with the command line (cli/bin/svc.js).
process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules', '.cache', 'svc');
const tests =
  selection === undefined
    ? { passed: 0, failed: 0 }
    : runTests({
        selection,
        isTier,
        root,
        run: (selected) => runVitest(root, selected),
        print: (line) => console.log(line),
      });
for (const name of broken) console.log(`the ${name} check failed; its messages are above`);
console.log(`${tests.passed} passed, ${tests.failed + broken.length} failed`);
process.exit(tests.failed + broken.length === 0 ? 0 : 1);
