// `npm run webhooks:simulation [-- --histories N] [--seed S]`: plays random histories of reports, answers and power failures, and fails if a promise of
// deliveries is broken. It runs the test of the long tier with another number of histories, and with a seed that it prints: a random one,
// unless one is given to repeat a failure.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: {
    histories: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(randomInt(1_000_000_000)) },
  },
});
for (const [name, value] of Object.entries(values))
  if (!/^\d{1,9}$/.test(value)) {
    process.stderr.write(`--${name} is not a whole number: ${value}\n`);
    process.exit(2);
  }
console.log(`seed ${values.seed}`);
const { status } = spawnSync(
  'vitest',
  ['run', '--project', 'long', 'test/webhooks/deliveries/simulation'],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      SVC_TEST_HISTORIES: values.histories,
      SVC_TEST_SEED: values.seed,
    },
  },
);
process.exitCode = status ?? 1;
