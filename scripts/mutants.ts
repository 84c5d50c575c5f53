// `npm run mutants [-- --check TEXT] [--sample N] [--seed N] [--shard 1/4] [--budget-minutes N] [--jobs N]`: disables
// the checks of the sandbox and of durability one by one, each in a copy of the sources in build/mutants/, and runs
// the tests that belong to the check. The rows of test/mutants/*.json name the checks, their tests, and for each check
// an anchor, which is the code that the run searches for in the sources. Exit code 1 if a disabled check makes no test
// fail, or cannot be tested, for example because its anchor was not found. TEXT is a part of the names of the checks.
// --shard 1/4 takes the first of four parts of the checks, and --sample at most N checks of this part, in an order that
// the seed gives (by default the number of the day). --jobs is the number of copies that are used at the same time.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Mutant, malformations, mutantLists } from '../test/support/mutants/mutant.ts';
import {
  groupByTestFiles,
  parseShard,
  selectMutants,
} from '../test/support/mutants/mutant-selection.ts';
import {
  AnchorLost,
  type MutatedSource,
  SourceTree,
} from '../test/support/mutants/mutated-source.ts';
import { makeCopyTree } from './mutants/copy-tree.ts';
import { type TestRun, patternOf, runTests } from './mutants/test-run.ts';

const ROOT = join(import.meta.dirname, '..');
/**
 * Maximum time of the tests of a mutant. Without a check a module may run for ever, so a run that takes longer counts
 * as a failed test.
 */
const RUN_TIMEOUT_MS = 60_000;
/** Maximum time of one run of tests on the unchanged sources. */
const BASELINE_TIMEOUT_MS = 600_000;
const DAY_MS = 86_400_000;

/**
 * The result for a check. 'its tests fail without it': one of its tests fails on the unchanged sources, or none passes.
 * 'does not load': a test file does not load with the changed sources. 'not run': the time budget was used up.
 */
type Verdict =
  | 'noticed'
  | 'not noticed'
  | 'anchor lost'
  | 'does not load'
  | 'its tests fail without it'
  | 'not run';
type Job = MutatedSource & { readonly check: string };

const { values } = parseArgs({
  options: {
    check: { type: 'string', default: '' },
    sample: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Math.floor(Date.now() / DAY_MS)) },
    shard: { type: 'string', default: '1/1' },
    'budget-minutes': { type: 'string', default: 'Infinity' },
    jobs: { type: 'string', default: '1' },
  },
});
const [sample, seed, budgetMinutes, jobs] = [
  Number(values.sample),
  Number(values.seed),
  Number(values['budget-minutes']),
  Number(values.jobs),
];
const shard = parseShard(values.shard);
if (shard === undefined || !(sample > 0 && budgetMinutes > 0 && jobs >= 1) || !(seed >= 0)) {
  process.stderr.write(
    'Usage: npm run mutants -- [--check TEXT] [--sample N] [--seed N] [--shard PART/PARTS] [--budget-minutes N] [--jobs N]\n',
  );
  process.exit(2);
}

const startedAt = performance.now();
const endsAt = startedAt + budgetMinutes * 60_000;
const rows = [...mutantLists().values()].flat();
const malformed = rows.flatMap((row) => malformations(row));
for (const problem of malformed) process.stderr.write(`${problem}\n`);
const selected = selectMutants(rows, { check: values.check, shard, sample, seed });
if (malformed.length > 0 || selected.length === 0) {
  if (selected.length === 0) process.stderr.write(`No check has '${values.check}' in its name.\n`);
  process.exit(1);
}

const verdicts = new Map<string, Verdict>();
const details = new Map<string, string>();

function report(check: string, verdict: Verdict, detail = ''): void {
  verdicts.set(check, verdict);
  details.set(check, detail);
  const mark = verdict === 'noticed' ? 'ok' : verdict === 'not run' ? '--' : 'NO';
  console.log(`${mark}  ${check}: ${verdict}${detail === '' ? '' : ` (${detail})`}`);
}

/** Returns the job of a mutant. If its anchor is lost, reports the mutant and returns no job. */
function located(sources: SourceTree, mutant: Mutant): readonly Job[] {
  try {
    return [{ check: mutant.check, ...sources.mutate(mutant) }];
  } catch (error) {
    if (!(error instanceof AnchorLost)) throw error;
    report(mutant.check, 'anchor lost', error.message);
    return [];
  }
}

/** Returns the tests of a mutant among the names of tests. */
function testsOf(names: readonly string[], { tests }: Job): string[] {
  return names.filter((name) =>
    tests.some(
      ([file, test]) =>
        name.startsWith(`${file} › `) && new RegExp(patternOf([file, test])).test(name),
    ),
  );
}

/** Runs the tests of a mutant on its mutated source. `baseline`: the results on the unchanged sources. */
async function judge(tree: string, job: Job, baseline: TestRun): Promise<Verdict> {
  if (testsOf(baseline.failed, job).length > 0 || testsOf(baseline.passed, job).length === 0)
    return 'its tests fail without it';
  const file = join(tree, job.file);
  const source = readFileSync(file, 'utf8');
  writeFileSync(file, job.text);
  try {
    const run = await runTests(ROOT, tree, job.tests, RUN_TIMEOUT_MS);
    if (!run.ended || testsOf(run.failed, job).length > 0) return 'noticed';
    return run.broken.length > 0 ? 'does not load' : 'not noticed';
  } finally {
    writeFileSync(file, source);
  }
}

/** Returns whether the time budget is used up. */
function isOver(): boolean {
  return performance.now() > endsAt;
}

/** Tests the mutants whose tests are in the same files, after one run of these tests on the unchanged sources. */
async function runGroup(tree: string, group: readonly Job[]): Promise<void> {
  const tests = group.flatMap((job) => job.tests);
  const baseline = isOver() ? undefined : await runTests(ROOT, tree, tests, BASELINE_TIMEOUT_MS);
  for (const job of group)
    if (baseline === undefined || isOver()) report(job.check, 'not run', 'the budget is used up');
    else report(job.check, await judge(tree, job, baseline), job.file);
}

console.log(`${selected.length} of ${rows.length} checks, seed ${seed}`);
const sources = new SourceTree(ROOT);
const groups = [...groupByTestFiles(selected.flatMap((mutant) => located(sources, mutant)))];
const work = join(ROOT, 'build', 'mutants', String(process.pid));
mkdirSync(work, { recursive: true });
try {
  await Promise.all(
    Array.from({ length: Math.min(jobs, groups.length) }, async (_, index) => {
      const tree = join(work, `tree-${index}`);
      makeCopyTree(ROOT, tree);
      for (let group = groups.shift(); group !== undefined; group = groups.shift())
        await runGroup(tree, group);
    }),
  );
} finally {
  rmSync(work, { recursive: true, force: true });
}

const seconds = Math.round((performance.now() - startedAt) / 1000);
const counts = Map.groupBy(verdicts.values(), (verdict) => verdict);
console.log(
  `${[...counts].map(([verdict, all]) => `${all.length} ${verdict}`).join(', ')}, in ${seconds} s (seed ${seed})`,
);
for (const [check, verdict] of verdicts)
  if (verdict !== 'noticed' && verdict !== 'not run')
    console.log(`  ${check}: ${verdict} ${details.get(check)}`);
process.exit([...verdicts.values()].every((one) => one === 'noticed' || one === 'not run') ? 0 : 1);
