// SeededHistories runs a test of the long tier, which plays random histories, with another number of histories, and with a seed that it prints: a
// random one, unless one is given to repeat a failure. It sets the exit code of the process.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

export interface SeededHistories {
  /** Option that says how many histories are played; default: 10,000. */
  readonly option: string;
  /** Path of the test. */
  readonly test: string;
  /** Histories of one process. After each process it is printed how far it is. */
  readonly part: number;
  /** Further options of vitest. */
  readonly flags: readonly string[];
}

const root = join(import.meta.dirname, '..');

export function playHistories({ option, test, part, flags }: SeededHistories): void {
  const { values } = parseArgs({
    options: {
      [option]: { type: 'string', default: '10000' },
      seed: { type: 'string', default: String(randomInt(1_000_000_000)) },
    },
  });
  for (const [name, value] of Object.entries(values))
    if (!/^\d{1,9}$/.test(value)) {
      process.stderr.write(`--${name} is not a whole number: ${value}\n`);
      process.exit(2);
    }
  console.log(`seed ${values['seed']}`);
  const histories = Number(values[option]);
  for (let done = 0; done < histories && !process.exitCode; done += part) {
    const count = Math.min(part, histories - done);
    const { status } = spawnSync('vitest', ['run', '--project', 'long', test, ...flags], {
      cwd: root,
      stdio: 'inherit',
      env: {
        ...process.env,
        SVC_TEST_HISTORIES: String(count),
        SVC_TEST_SEED: String(Number(values['seed']) + done),
      },
    });
    process.exitCode = status ?? 1;
    if (status === 0) console.log(`${done + count} histories kept every promise`);
  }
}
