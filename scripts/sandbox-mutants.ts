// `npm run sandbox:mutants [-- --check TEXT] [--jobs N]`: turns the checks of the sandbox off one by one, each in a
// copy of the sources under build/mutants/, runs the tests that the check names, and reports the checks whose
// absence none of them notices. Exit code 1 when there is one. The lists are test/mutants/*.json.
import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Mutant, mutantLists, problemsOf } from '../test/support/mutants.ts';
import { testNamePattern } from '../test/support/test-names.ts';

const root = join(import.meta.dirname, '..');
const work = join(root, 'build', 'mutants', String(process.pid));
/** A check that is gone may let a module run for ever: that is noticed as well. */
const RUN_TIMEOUT_MS = 60_000;
const BASELINE_TIMEOUT_MS = 900_000;

const { values } = parseArgs({
  options: { check: { type: 'string', default: '' }, jobs: { type: 'string', default: '2' } },
});

type TestPair = Mutant['tests'][number];
interface TestRun {
  readonly ended: boolean;
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  /** Files that did not load. */
  readonly broken: readonly string[];
}
type Verdict = 'noticed' | 'not noticed' | 'does not load' | 'its tests fail without it';

/** A copy of the sources with links to what is installed and to what was built. */
function makeTree(name: string): string {
  const tree = join(work, name);
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(join(tree, 'build'), { recursive: true });
  const left = new Set(['.git', 'build', 'node_modules']);
  for (const entry of readdirSync(root))
    if (!left.has(entry))
      cpSync(join(root, entry), join(tree, entry), {
        recursive: true,
        verbatimSymlinks: true,
        filter: (source) => !/[/\\](?:node_modules|\.svc|dist)$/.test(source),
      });
  for (const entry of readdirSync(join(root, 'build')))
    if (entry !== 'mutants') symlinkSync(join(root, 'build', entry), join(tree, 'build', entry));
  linkPackages(tree);
  return tree;
}

/** The project's own packages lead into the copy, all others to where they are installed. */
function linkPackages(tree: string): void {
  const [from, to] = [join(root, 'node_modules'), join(tree, 'node_modules')];
  mkdirSync(join(to, '@svc'), { recursive: true });
  for (const entry of readdirSync(from))
    if (entry !== '@svc') symlinkSync(join(from, entry), join(to, entry));
  const { workspaces } = json(join(root, 'package.json')) as { workspaces: readonly string[] };
  const folders = workspaces.flatMap((folder) =>
    folder.endsWith('/*')
      ? readdirSync(join(root, folder.slice(0, -2))).map((name) => join(folder.slice(0, -2), name))
      : [folder],
  );
  for (const folder of folders) {
    const manifest = join(tree, folder, 'package.json');
    if (!existsSync(manifest)) continue;
    const { name } = json(manifest) as { name: string };
    symlinkSync(join(tree, folder), join(to, name));
  }
}

function json(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}

interface VitestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

/** Runs these tests in a tree. */
async function runTests(
  tree: string,
  tests: readonly TestPair[],
  timeoutMs: number,
): Promise<TestRun> {
  const files = [...new Set(tests.map(([file]) => file))];
  const pattern = [...new Set(tests.map(patternOf))].map((one) => `(?:${one})`).join('|');
  const report = join(tree, 'build', 'report.json');
  rmSync(report, { force: true });
  const ended = await runVitest(
    tree,
    ['run', ...files, '-t', pattern, '--maxWorkers=1', '--reporter=json', `--outputFile=${report}`],
    timeoutMs,
  );
  if (!existsSync(report)) return { ended, passed: [], failed: [], broken: ended ? files : [] };
  const { testResults } = json(report) as VitestReport;
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

/** False: it was ended, it had not ended by itself. */
function runVitest(tree: string, args: readonly string[], timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(join(root, 'node_modules', '.bin', 'vitest'), args, {
      cwd: tree,
      stdio: 'ignore',
      // A group of its own, so that its workers end with it.
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

function patternOf([file, name]: TestPair): string {
  return testNamePattern(file, name)!;
}

/** Those of the names that a test of the mutant has. */
function ofMutant(names: readonly string[], { tests }: Mutant): string[] {
  return names.filter((name) =>
    tests.some(
      ([file, pattern]) =>
        name.startsWith(`${file} › `) && new RegExp(patternOf([file, pattern])).test(name),
    ),
  );
}

async function judge(tree: string, mutant: Mutant, baseline: TestRun): Promise<Verdict> {
  if (
    ofMutant(baseline.failed, mutant).length > 0 ||
    ofMutant(baseline.passed, mutant).length === 0
  )
    return 'its tests fail without it';
  const file = join(tree, mutant.file);
  const source = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    source.replace(mutant.find, () => mutant.replace),
  );
  try {
    const run = await runTests(tree, mutant.tests, RUN_TIMEOUT_MS);
    if (!run.ended || ofMutant(run.failed, mutant).length > 0) return 'noticed';
    return run.broken.length > 0 ? 'does not load' : 'not noticed';
  } finally {
    writeFileSync(file, source);
  }
}

const mutants = [...mutantLists().values()]
  .flat()
  .filter(({ check }) => check.includes(values.check));
const problems = mutants.flatMap((mutant) => problemsOf(mutant));
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0 || mutants.length === 0) process.exit(1);

const startedAt = performance.now();
const trees = Array.from({ length: Number(values.jobs) }, (_, index) => makeTree(`tree-${index}`));
console.log(`${mutants.length} checks; first their tests with all of them on`);
const baseline = await runTests(
  trees[0]!,
  mutants.flatMap(({ tests }) => tests),
  BASELINE_TIMEOUT_MS,
);
const waiting = [...mutants];
const left: string[] = [];
await Promise.all(
  trees.map(async (tree) => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const verdict = await judge(tree, mutant, baseline);
      console.log(`${verdict === 'noticed' ? 'ok' : 'NO'}  ${mutant.check}: ${verdict}`);
      if (verdict !== 'noticed') left.push(`${mutant.check} (${mutant.file}): ${verdict}`);
    }
  }),
);
rmSync(work, { recursive: true, force: true });
const seconds = Math.round((performance.now() - startedAt) / 1000);
console.log(
  `${mutants.length - left.length} of ${mutants.length} checks are noticed, in ${seconds} s`,
);
for (const line of left) console.log(`  ${line}`);
process.exit(left.length === 0 ? 0 : 1);
