// `npm run crash -- --rounds N [--seed S] [--shards COUNT] [--followers]`: kills the real process under load at random moments
// and starts it again, N times; also simulates a crash at every write of a workload on the journal, and a failing disk.
// With --followers, the process has timers, a view and a consumer, and a crash is simulated at every write of a consumer's service.
// Without --shards, the rounds alternate between one shard and two, and with --followers they always do. Prints the seed and the results. At the first
// violated guarantee it prints the violation and how to repeat it, keeps the data folder, and ends with exit code 1.
// SIGINT and SIGTERM end the run after the present round or workload, with exit code 130 if nothing was violated.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compileFixture } from '../test/support/compile-fixture.ts';
import {
  type CrashWorkload,
  PAST_FORMATS,
  enumerateCrashes,
} from '../test/support/crash/crash-enumeration.ts';
import { consumerCrashes } from '../test/support/crash/consumer-crashes.ts';
import { ROUNDS_PER_FOLDER, crashRounds } from '../test/support/crash/crash-rounds.ts';
import { buildOrders } from '../test/support/crash/followed-orders.ts';
import { followerRounds } from '../test/support/crash/follower-rounds.ts';
import { type Fault, faultDiskProblem } from '../test/support/crash/fault-disk.ts';

type Workload = Omit<CrashWorkload, 'seed'>;

/**
 * Number of rounds for each enumeration, which simulates all workloads once and takes as long as about ten rounds.
 * There is at least one enumeration.
 */
const ROUNDS_PER_ENUMERATION = 25;
/** Number of rounds after which a line of progress is printed. */
const ROUNDS_PER_LINE = 10;
/** Number of simulated crashes of a service with a consumer after which a line of progress is printed. */
const IMAGES_PER_LINE = 100;
/** Events that the consumer handles in the service whose crashes are simulated. */
const CONSUMED_EVENTS = 24;
const SHARDS_MAX = 256;
const MIB = 1024 * 1024;
const root = join(import.meta.dirname, '..');
/**
 * Faults that end the processes of a workload, one fault for each process. With any seed, a fault happens before its
 * process has done its work.
 */
const STOPS: readonly Fault[] = [
  { mode: 'stop', kind: 'sync', suffix: '-wal', first: 2 },
  { mode: 'stop', kind: 'sync', suffix: '-wal', first: 1 },
  { mode: 'tear', kind: 'write', suffix: '-wal', first: 9 },
  { mode: 'stop', kind: 'write', suffix: '-wal', first: 20 },
];
const WORKLOADS: ReadonlyMap<string, Workload> = new Map<string, Workload>([
  ['a new journal', { waves: 24 }],
  ['a disk that fails', { waves: 40, faults: true }],
  ['hosts that were killed', { waves: 12, stops: STOPS }],
  ...PAST_FORMATS.map((format) => [`a journal of format ${format}`, { waves: 6, format }] as const),
]);

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    shards: { type: 'string' },
    followers: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds);
const seed = Number(values.seed);
const shards = values.shards === undefined ? undefined : Number(values.shards);
if (!isCount(rounds) || !Number.isSafeInteger(seed) || !isCount(shards ?? 1, SHARDS_MAX)) {
  process.stderr.write(
    'Usage: npm run crash -- --rounds N [--seed S] [--shards COUNT] [--followers]\n',
  );
  process.exit(2);
}

function isCount(value: number, max = Infinity): boolean {
  return Number.isSafeInteger(value) && value >= 1 && value <= max;
}

const beganMs = performance.now();
const scratch = mkdtempSync(join(tmpdir(), 'svc-crash-'));
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    console.log(`${signal}: it ends after what is under way`);
    stop.abort();
  });

/** Prints a line, after the elapsed time and the memory of the process. */
function log(line: string): void {
  const passed = new Date(performance.now() - beganMs).toISOString().slice(11, 19);
  console.log(`${passed} ${String(Math.round(process.memoryUsage.rss() / MIB))} MiB  ${line}`);
}

/** Kills the process under load in each round. Returns a summary. Throws at the first violation. */
async function runRounds(): Promise<string> {
  const module = join(scratch, 'shopping-cart.wasm');
  writeFileSync(module, await compileFixture('shopping-cart'));
  const done = await crashRounds({
    rounds,
    seed,
    module,
    scratch,
    signal: stop.signal,
    ...(shards === undefined ? {} : { shards: [shards] }),
    onRound: (soFar) => {
      if (soFar.kills % ROUNDS_PER_LINE === 0 && soFar.kills < rounds)
        log(
          `${soFar.kills} of ${rounds} rounds, in the folder of seed ` +
            `${seed + Math.floor((soFar.kills - 1) / ROUNDS_PER_FOLDER)}: ${soFar.answered} requests answered`,
        );
    },
  });
  return (
    `${done.kills} kills: ${done.answered} requests answered, ${done.unanswered} not, ` +
    `${done.repeated} repeated with their key, ${done.snapshots} snapshots left`
  );
}

/** Kills a process with timers, a view and a consumer in each round. Returns a summary. Throws at the first violation. */
async function runFollowers(): Promise<string> {
  const module = join(scratch, 'orders.wasm');
  await buildOrders(join(root, 'build', 'crash', 'index.ts'), module);
  const done = await followerRounds({
    rounds,
    seed,
    module,
    scratch,
    signal: stop.signal,
    onRound: ({ kills, answered }) => {
      if (kills % ROUNDS_PER_LINE === 0 && kills < rounds)
        log(`${kills} of ${rounds} rounds: ${answered} requests answered`);
    },
  });
  return (
    `${done.kills} kills: ${done.answered} requests answered, ${done.unanswered} not; at the ends of the folders ` +
    `${done.fired} deadlines and ${done.ticks} occurrences had fired, ${done.dead} timers were dead, ${done.noted} events consumed`
  );
}

/** Simulates a crash at each write of a service with a consumer. Returns a summary. Throws at the first violation. */
async function runConsumers(): Promise<string> {
  const problem = faultDiskProblem();
  if (problem !== undefined) return `no crash at every write: ${problem}`;
  const folder = join(scratch, 'consumers');
  mkdirSync(folder);
  const found = await consumerCrashes({
    scratch: folder,
    seed,
    orders: CONSUMED_EVENTS,
    oneOf: 1,
    signal: stop.signal,
    onImage: (images) => {
      if (images % IMAGES_PER_LINE === 0) log(`${images} crashes of a service with a consumer`);
    },
  });
  return `${found.length} crashes at a write of a service with a consumer`;
}

/**
 * Simulates a crash at each write of the workloads, and a failing disk. Returns a summary, which only gives the reason
 * if writes cannot be recorded on this machine. Throws after the first workload with violations.
 */
async function runEnumerations(): Promise<string> {
  const problem = faultDiskProblem();
  if (problem !== undefined) return `no crash at every write, no failing disk: ${problem}`;
  let images = 0;
  let stored = 0;
  const count = Math.max(1, Math.floor(rounds / ROUNDS_PER_ENUMERATION));
  for (let at = 0; at < count; at++)
    for (const [name, workload] of WORKLOADS) {
      if (stop.signal.aborted) break;
      const folder = join(scratch, `${name.replaceAll(' ', '-')}-${seed + at}`);
      mkdirSync(folder);
      const done = await enumerateCrashes({ ...workload, seed: seed + at }, folder);
      const crashes = Object.values(done.images).reduce((sum, some) => sum + some, 0);
      const [first, ...others] = done.violations;
      if (first !== undefined)
        throw new Error(
          `${name}, in ${folder} (--seed ${seed + at}): ${first}, and ${others.length} more`,
        );
      rmSync(folder, { recursive: true });
      images += crashes;
      stored += done.stored;
      log(
        `${name}, seed ${seed + at}: ${crashes} crashes, ` +
          `${done.stored} commands stored, ${done.failedSyncs} syncs failed`,
      );
    }
  return `${images} crashes at a write: ${stored} commands stored`;
}

console.log(
  `${rounds} rounds from seed ${seed}, shards: ${shards === undefined ? '1 and 2 in turn' : shards}`,
);
const isComplete = (): boolean => !stop.signal.aborted;
try {
  const results = values.followers
    ? [await runFollowers(), await runConsumers()]
    : [await runRounds(), await runEnumerations()];
  rmSync(scratch, { recursive: true, force: true });
  for (const result of results) log(result);
  log(`${isComplete() ? 'no violation' : 'interrupted, no violation until then'}, seed ${seed}`);
  process.exitCode = isComplete() ? 0 : 130;
} catch (error) {
  log(`VIOLATION: ${error instanceof Error ? error.message : String(error)}`);
  if (shards !== undefined) log(`with --shards ${shards}`);
  log(`what it found is left in ${scratch}`);
  process.exitCode = 1;
}
