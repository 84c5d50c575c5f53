// `npm run cluster:simulation [-- --seeds N] [--seed S]`: plays random histories of a cluster of three nodes and a model of its database in
// virtual time, and fails if a promise is broken. It runs the test of the long tier with another number of histories, and with a seed that it
// prints: a random one, unless one is given to repeat a failure.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** Histories of one process. After each process the script prints how far it is. */
const PART = 500;
/** Time of a batch of histories of the test, in milliseconds, on a machine that has much else to do. */
const BATCH_MS_MAX = 600_000;

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(randomInt(1_000_000_000)) },
  },
});
for (const [name, value] of Object.entries(values))
  if (!/^\d{1,9}$/.test(value)) {
    process.stderr.write(`--${name} is not a whole number: ${value}\n`);
    process.exit(2);
  }
console.log(`seed ${values.seed}`);
const seeds = Number(values.seeds);
for (let done = 0; done < seeds && !process.exitCode; done += PART) {
  const count = Math.min(PART, seeds - done);
  process.exitCode = played(Number(values.seed) + done, count);
  if (!process.exitCode) console.log(`${done + count} histories kept every promise`);
}

/** Returns the exit code of the test. */
function played(seed: number, count: number): number {
  const { status } = spawnSync(
    'vitest',
    [
      'run',
      '--project',
      'long',
      `--testTimeout=${BATCH_MS_MAX}`,
      'test/simulation/cluster/cluster-histories',
    ],
    {
      cwd: root,
      stdio: 'inherit',
      env: {
        ...process.env,
        SVC_TEST_HISTORIES: String(count),
        SVC_TEST_SEED: String(seed),
      },
    },
  );
  return status ?? 1;
}
