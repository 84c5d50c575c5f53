// `npm run crash -- --rounds N [--seed S] [--shards COUNT]`: the real process under load, killed at random moments
// and started again, N times; and a crash at every write of a workload on the journal, and with a disk that fails.
// Prints the seed and what was done. Exit code 1 when something that was promised did not hold.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compileFixture } from '../test/support/compile-fixture.ts';
import { type CrashWorkload, enumerateCrashes } from '../test/support/crash/crash-enumeration.ts';
import { crashRounds } from '../test/support/crash/crash-rounds.ts';
import { type Fault, faultDiskProblem } from '../test/support/crash/fault-disk.ts';

/** One takes as long as some ten rounds. */
const ROUNDS_PER_ENUMERATION = 25;
const ROUNDS_PER_LINE = 10;
/** Each comes before its workload is done, whatever the seed. */
const STOPS: readonly Fault[] = [
  { mode: 'stop', kind: 'sync', suffix: '-wal', first: 2 },
  { mode: 'stop', kind: 'sync', suffix: '-wal', first: 1 },
  { mode: 'tear', kind: 'write', suffix: '-wal', first: 9 },
  { mode: 'stop', kind: 'write', suffix: '-wal', first: 20 },
];

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    shards: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const seed = Number(values.seed);
if (!Number.isSafeInteger(rounds) || rounds < 1 || !Number.isSafeInteger(seed)) {
  process.stderr.write('Usage: npm run crash -- --rounds N [--seed S] [--shards COUNT]\n');
  process.exit(2);
}

const scratch = mkdtempSync(join(tmpdir(), 'svc-crash-'));

async function enumerate(): Promise<readonly string[]> {
  const problem = faultDiskProblem();
  if (problem !== undefined) {
    console.log(`no crash at every write, no failing disk: ${problem}`);
    return [];
  }
  const violations: string[] = [];
  const count = Math.max(1, Math.floor(rounds / ROUNDS_PER_ENUMERATION));
  const workloads: ReadonlyMap<string, Omit<CrashWorkload, 'seed'>> = new Map([
    ['a new journal', { waves: 24 }],
    ['a disk that fails', { waves: 40, faults: true }],
    ['hosts that were killed', { waves: 12, stops: STOPS }],
    ['a journal of format 1', { waves: 6, format: 1 }],
    ['a journal of format 2', { waves: 6, format: 2 }],
  ]);
  for (let at = 0; at < count; at++)
    for (const [name, workload] of workloads) {
      const folder = join(scratch, `${name.replaceAll(' ', '-')}-${at}`);
      mkdirSync(folder);
      const done = await enumerateCrashes({ ...workload, seed: seed + at }, folder);
      const images = Object.values(done.images).reduce((sum, some) => sum + some, 0);
      console.log(
        `${name}, seed ${seed + at}: ${images} crashes, ` +
          `${done.stored} commands stored, ${done.failedSyncs} syncs failed, ${done.violations.length} violations`,
      );
      for (const violation of done.violations)
        violations.push(`${name}, seed ${seed + at}, ${violation}`);
    }
  return violations;
}

async function kill(): Promise<readonly string[]> {
  const module = join(scratch, 'shopping-cart.wasm');
  writeFileSync(module, await compileFixture('shopping-cart'));
  const options = values.shards === undefined ? [] : ['--shards', values.shards];
  try {
    const done = await crashRounds({
      rounds,
      seed,
      module,
      scratch,
      options,
      onRound: (round, so) => {
        if ((round + 1) % ROUNDS_PER_LINE === 0 || round + 1 === rounds)
          console.log(
            `${round + 1} rounds: ${so.kills} kills, ${so.answered} requests answered, ` +
              `${so.unanswered} not, ${so.repeated} repeated with their key`,
          );
      },
    });
    return done.kills === rounds ? [] : ['a round did not kill'];
  } catch (error) {
    return [String(error)];
  }
}

console.log(`${rounds} rounds from seed ${seed}`);
const violations = [...(await kill()), ...(await enumerate())];
for (const violation of violations) console.log(violation);
console.log(`${violations.length} violations, seed ${seed}`);
// What broke a promise is kept, to be looked at.
if (violations.length === 0) rmSync(scratch, { recursive: true, force: true });
else console.log(`left in ${scratch}`);
process.exit(violations.length === 0 ? 0 : 1);
