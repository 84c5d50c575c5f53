// A sample of the mutants, another one each day: their anchors are found, and tests notice each of them.
// `npm run mutants -- --sample 20 --seed N` repeats it with the seed that it prints.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const SAMPLE = '20';
const TIME_MS = 1_500_000;

test(
  'a sample of the mutants is noticed',
  () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(ROOT, 'scripts', 'mutants.ts'), '--sample', SAMPLE, '--budget-minutes', '10'],
      { cwd: ROOT, encoding: 'utf8' },
    );
    console.log(stdout, stderr);
    expect(stdout).toMatch(/\d noticed/);
    expect(status).toBe(0);
  },
  TIME_MS,
);
