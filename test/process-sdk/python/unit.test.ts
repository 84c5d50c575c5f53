// The unit tests of the SDK for Python, which Python runs.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { python, PYTHON_ENVIRONMENT } from '../../support/python.ts';

test.skipIf(python === undefined)('the unit tests in Python pass', () => {
  const program = join(import.meta.dirname, 'support', 'run_tests.py');
  const env = { ...process.env, ...PYTHON_ENVIRONMENT };
  const { status, stdout, stderr } = spawnSync(python!, [program], { encoding: 'utf8', env });
  expect(`${stdout}${status === 0 ? '' : stderr}`).toMatch(/^\d+ run, 0 failed, 0 skipped$/m);
});
