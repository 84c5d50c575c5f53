// (n), (n2), (n3): what it costs to record every invocation: a shard with its recorder beside the same shard without it,
// in short turns. The load is that of (a), of (b1), and of (i2), whose requests cost less than any other.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { oneCoreForServer } from './cores.ts';
import type { Loader } from './load.ts';
import { median, type Measurement, type Pace } from './report.ts';
import { type BenchModule, benchModule, startRecorded } from './service.ts';
import { LoadedService } from './shards.ts';
import type { Slice } from './switched-recorder.ts';

const SCENARIOS = [
  { letter: 'n', what: 'GET on one core, as (a)', method: 'GET' },
  { letter: 'n2', what: 'POST on one core, as (b1)', method: 'POST' },
  { letter: 'n3', what: 'queries that cost the least, as (i2)', method: undefined },
] as const;
type Scenario = (typeof SCENARIOS)[number];

/** A collection or two of the young generation happen in one, so that each turn pays for its own. */
const SLICE_MS = 100;
const CONNECTIONS = 64;
const paths = Array.from({ length: 1_000 }, (_, index) => `/counters/c${index}`);

export async function measureRecorder(
  wanted: ReadonlySet<string>,
  pace: Pace,
  loader: Loader,
): Promise<Measurement[]> {
  const module = await benchModule();
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  // A trial is over before it.
  const sliceMs = Math.min(SLICE_MS, (pace.seconds * 1000) / 10);
  const measurements: Measurement[] = [];
  try {
    for (const scenario of SCENARIOS.filter(({ letter }) => wanted.has(letter))) {
      const pairs: Pair[] = [];
      // What the compiler makes of a thread's code differs from thread to thread: each round has its own.
      for (let round = 0; round < pace.rounds; round++) {
        const data = join(folder, `${scenario.letter}${round}`);
        const slices = await slicesOf(scenario, { module, data, sliceMs, pace, loader });
        pairs.push(...pairsOf(slices));
      }
      measurements.push({
        letter: scenario.letter,
        what: `recording every invocation: ${scenario.what}`,
        svc: median(pairs.map((pair) => pair.recorded)),
        beside: 'the same server in every second tenth of a second, which has no recorder then',
        other: median(pairs.map((pair) => pair.other)),
        unit: 'per second',
        ratio: median(pairs.map((pair) => pair.recorded / pair.other)),
        cores: coresOf(scenario),
      });
    }
    return measurements;
  } finally {
    rmSync(folder, { recursive: true, force: true });
    module.remove();
  }
}

interface Run {
  readonly module: BenchModule;
  readonly data: string;
  readonly sliceMs: number;
  readonly pace: Pace;
  readonly loader: Loader;
}

/** Of a load that lasts twice as long as a round of others, for it has two sides. */
async function slicesOf({ method }: Scenario, run: Run): Promise<readonly Slice[]> {
  const { module, data, sliceMs, loader } = run;
  const { seconds, warmUpSeconds } = run.pace;
  let slices: Slice[] = [];
  const told = (slice: Slice) => void slices.push(slice);
  if (method === undefined) {
    const service = await LoadedService.start(readFileSync(module.file), data, 1);
    await service.takeTurns(sliceMs, told);
    const load = async (forSeconds: number) =>
      service.load({ route: 0, isOverHttp: true }, forSeconds);
    await load(warmUpSeconds);
    slices = [];
    await load(2 * seconds);
    await service.close();
    return slices;
  }
  const placement = oneCoreForServer();
  const { server, load: processors } =
    placement.kind === 'pinned' ? placement : { server: undefined, load: undefined };
  const service = await startRecorded(module.file, data, sliceMs, told, server);
  const load = async (forSeconds: number) =>
    loader.run({
      url: service.url,
      method,
      paths,
      body: method === 'POST' ? '{"amount":1}' : undefined,
      connections: CONNECTIONS,
      seconds: forSeconds,
      processors,
    });
  try {
    if (warmUpSeconds > 0) await load(warmUpSeconds);
    slices = [];
    await load(2 * seconds);
    return slices;
  } finally {
    await service.stop();
  }
}

function coresOf({ method }: Scenario): string {
  if (method === undefined) return 'shard and its client share one';
  const placement = oneCoreForServer();
  return placement.kind === 'pinned'
    ? 'one, the load on another'
    : `not pinned (${placement.reason}): all, the load included`;
}

interface Pair {
  readonly recorded: number;
  readonly other: number;
}

/** Each turn with a recorder, and the one after it without. The first has begun before the load. */
function pairsOf([, ...slices]: readonly Slice[]): Pair[] {
  const pairs: Pair[] = [];
  for (const [at, { isRecorded, perSecond }] of slices.entries()) {
    const next = slices[at + 1];
    if (isRecorded && next !== undefined)
      pairs.push({ recorded: perSecond, other: next.perSecond });
  }
  return pairs;
}
