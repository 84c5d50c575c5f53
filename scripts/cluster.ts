// `npm run cluster -- [--minutes N] [--seed S] [--kills N]`: three real nodes on a PostgreSQL server with a synchronous standby, under load, while nodes are killed,
// stopped, suspended and restarted, their clocks are set, connections between nodes and to the database fail, and the database is killed, paused and
// failed over, all at once. It plays rounds of a minute of faults, each with the next seed, until N minutes have passed (5 by default), and compares
// what callers were answered with what may have happened. With `--kills N` it kills N nodes one after the other instead, without other faults, and
// prints how long entities took to answer. Ends with exit code 1 after the first round with a problem, and prints its seed, its schedule and its history.
// SIGINT and SIGTERM end the run after the present round, with exit code 130 if nothing was found.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { clusterModule } from '../test/support/cluster-faults/cluster-modules.ts';
import { clusterRound, type RoundDone } from '../test/support/cluster-faults/cluster-round.ts';
import { faultText } from '../test/support/cluster-faults/fault-schedule.ts';
import { FaultyCluster } from '../test/support/cluster-faults/faulty-cluster.ts';
import { killedUntilAnswered } from '../test/support/cluster-faults/kill-times.ts';
import { ownMachineProblem } from '../test/support/cluster-faults/own-machine.ts';
import { Random } from '../test/support/random.ts';

/** Faults of a round begin within this time. */
const ROUND_MS = 60_000;
const MINUTE_MS = 60_000;
/** Characters of a problem that are printed; the file with the history has all of it. */
const PROBLEM_LENGTH_MAX = 4_000;
const WHOLE = /^[1-9]\d{0,8}$/;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(1 + (Date.now() % 1_000_000)) },
    kills: { type: 'string' },
  },
});
for (const [name, value] of Object.entries(values))
  if (!WHOLE.test(value)) {
    process.stderr.write(`--${name} is no whole number from 1 on: ${value}\n`);
    process.exit(2);
  }
const seed = Number(values.seed);
const problem = ownMachineProblem();
if (problem !== undefined) {
  process.stderr.write(`The clocks of nodes cannot be set: ${problem}\n`);
  process.exit(2);
}

const beganMs = performance.now();
const scratch = mkdtempSync(join(tmpdir(), 'svc-cluster-'));
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    log(`${signal}: it ends after what is under way`);
    stop.abort();
  });

/** Prints a line, after the elapsed time. */
function log(line: string): void {
  const passed = new Date(performance.now() - beganMs).toISOString().slice(11, 19);
  console.log(`${passed}  ${line}`);
}

/** Plays rounds until the time is over. Returns whether nothing was found. */
async function playRounds(): Promise<boolean> {
  const untilMs = beganMs + Number(values.minutes) * MINUTE_MS;
  const killsMs: number[] = [];
  for (let round = seed; performance.now() < untilMs && !stop.signal.aborted; round++) {
    // Rounds with an even seed have followers.
    const isFollowed = round % 2 === 0;
    const folder = join(scratch, String(round));
    mkdirSync(folder);
    const done = await clusterRound({
      seed: round,
      lengthMs: ROUND_MS,
      isFollowed,
      module: await clusterModule(isFollowed, join(folder, 'module')),
      scratch: folder,
      onFault: (text) => log(`  ${text}`),
    });
    if (done.killMs !== undefined) killsMs.push(done.killMs);
    if (done.problems.length > 0) {
      print(round, done);
      return false;
    }
    rmSync(folder, { recursive: true });
    const counts = [...done.load.counts].map(([status, count]) => `${count} ${status}`);
    log(
      `seed ${round}: ${done.schedule.length} faults; ${counts.join(', ')}; ${done.placed} orders placed; ` +
        `after a kill everything answered within ${Math.round(done.killMs!)} ms`,
    );
  }
  log(
    `nothing found from seed ${seed} on, in ${killsMs.length} rounds; after a kill at the end of a round everything answered within ` +
      `${Math.round(Math.max(...killsMs))} ms at worst`,
  );
  return true;
}

function print(round: number, { problems, schedule, history }: RoundDone): void {
  log(`PROBLEMS with seed ${round}:`);
  for (const text of problems) console.log(text.slice(0, PROBLEM_LENGTH_MAX));
  console.log(`Schedule:\n${schedule.map((fault) => `  ${faultText(fault)}`).join('\n')}`);
  log(`History and logs: ${history}. To repeat it: npm run cluster -- --minutes 1 --seed ${round}`);
}

/** Kills nodes one after the other, and prints how long entities took to answer. */
async function measureKills(kills: number): Promise<void> {
  const module = await clusterModule(false, join(scratch, 'module'));
  const cluster = await FaultyCluster.start({ module, scratch });
  const random = new Random(seed);
  const times: number[] = [];
  try {
    while (times.length < kills && !stop.signal.aborted) {
      const ms = Math.round(await killedUntilAnswered(cluster, random));
      times.push(ms);
      log(`${times.length}: everything answered within ${ms} ms`);
    }
  } finally {
    await cluster.close();
  }
  const median = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];
  log(`${times.length} kills, seed ${seed}: median ${median} ms, worst ${Math.max(...times)} ms`);
}

let isFine = true;
if (values.kills === undefined) isFine = await playRounds();
else await measureKills(Number(values.kills));
if (isFine) rmSync(scratch, { recursive: true, force: true });
const isComplete = !stop.signal.aborted;
process.exitCode = isFine ? (isComplete ? 0 : 130) : 1;
