// `npm run convergence [-- --changes N] [--seed S]`: changes what runs on one machine N times (500 by default), and kills the control plane or an
// instance at a step of each. It runs the test of the long tier with that number, from a seed that repeats a failure.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: {
    changes: { type: 'string', default: '500' },
    seed: { type: 'string', default: '1' },
  },
});
for (const [name, value] of Object.entries(values))
  if (!/^\d{1,9}$/.test(value)) {
    process.stderr.write(`--${name} is not a whole number: ${value}\n`);
    process.exit(2);
  }
const { status } = spawnSync(
  'vitest',
  ['run', '--project', 'long', 'test/control-plane/local/convergence'],
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, SVC_TEST_CHANGES: values.changes, SVC_TEST_SEED: values.seed },
  },
);
process.exitCode = status ?? 1;
