// The anchors of all mutants are found, and tests notice a sample of the mutants, another one each day.
// `npm run mutants -- --sample 3 --seed N` repeats it with the seed that it prints.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mutantLists } from '../support/mutants/mutant.ts';
import { AnchorLost, SourceTree } from '../support/mutants/mutated-source.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SAMPLE = '3';
const BUDGET_MINUTES = '3';
/** The budget ends before a run of tests, not during it. */
const TIME_MS = 1_000_000;

test('every mutant finds its anchor and its tests', () => {
  const sources = new SourceTree(ROOT);
  const lost = [...mutantLists().values()].flat().flatMap((mutant) => {
    try {
      sources.mutate(mutant);
      return [];
    } catch (error) {
      if (error instanceof AnchorLost) return [`${mutant.check}: ${error.message}`];
      throw error;
    }
  });
  expect(lost).toEqual([]);
});

test(
  'a sample of the mutants is noticed',
  () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(ROOT, 'scripts', 'mutants.ts'), '--sample', SAMPLE, '--budget-minutes', BUDGET_MINUTES],
      { cwd: ROOT, encoding: 'utf8' },
    );
    console.log(stdout, stderr);
    expect(stdout).toMatch(/\d noticed/);
    expect(status).toBe(0);
  },
  TIME_MS,
);
