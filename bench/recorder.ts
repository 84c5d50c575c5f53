// Measurements (n), (n2): the cost of recording every invocation: a server with its recorder compared with the same
// server without it, in short turns, under the load of (a) and of (b1).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { oneCoreForServer, type Placement } from './cores.ts';
import type { Loader } from './load.ts';
import { median, type Measurement, type Pace } from './report.ts';
import { type BenchModule, benchModule, startRecorded } from './service.ts';
import type { Slice } from './switched-recorder.ts';

const SCENARIOS = [
  { letter: 'n', what: 'GET on one core, as (a)', method: 'GET' },
  { letter: 'n2', what: 'POST on one core, as (b1)', method: 'POST' },
] as const;
type Scenario = (typeof SCENARIOS)[number];

/**
 * Length of a turn in milliseconds. It contains a collection or two of the young generation, so that each turn pays
 * for its own garbage.
 */
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
  // The load of a trial run is too short for several turns of the normal length.
  const sliceMs = Math.min(SLICE_MS, (pace.seconds * 1000) / 10);
  const placement = oneCoreForServer();
  const measurements: Measurement[] = [];
  try {
    for (const scenario of SCENARIOS.filter(({ letter }) => wanted.has(letter))) {
      const figures: Figures[] = [];
      // The machine code of a thread differs from run to run, so each round has a new process.
      for (let round = 0; round < pace.rounds; round++) {
        const data = join(folder, `${scenario.letter}${round}`);
        const slices = await slicesOf(scenario, { module, data, sliceMs, placement, pace, loader });
        figures.push(figuresOf(slices));
      }
      measurements.push({
        letter: scenario.letter,
        what: `recording every invocation: ${scenario.what}`,
        svc: median(figures.map(({ recorded }) => recorded)),
        beside: 'the same server without its recorder, in turns',
        other: median(figures.map(({ other }) => other)),
        unit: 'per second',
        ratio: median(figures.map(({ recorded, other }) => recorded / other)),
        cores:
          placement.kind === 'pinned'
            ? 'one, the load on another'
            : `not pinned (${placement.reason}): all, the load included`,
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
  readonly placement: Placement;
  readonly pace: Pace;
  readonly loader: Loader;
}

/** Returns the turns of a load, which lasts twice as long as other loads because it has two sides. */
async function slicesOf(
  { method }: Scenario,
  { module, data, sliceMs, placement, pace, loader }: Run,
): Promise<readonly Slice[]> {
  let slices: Slice[] = [];
  const { server, load: processors } =
    placement.kind === 'pinned' ? placement : { server: undefined, load: undefined };
  const report = (slice: Slice) => void slices.push(slice);
  const service = await startRecorded(module.file, data, sliceMs, report, server);
  const load = async (seconds: number) =>
    loader.run({
      url: service.url,
      method,
      paths,
      body: method === 'POST' ? '{"amount":1}' : undefined,
      connections: CONNECTIONS,
      seconds,
      processors,
    });
  try {
    if (pace.warmUpSeconds > 0) await load(pace.warmUpSeconds);
    slices = [];
    await load(2 * pace.seconds);
    return slices;
  } finally {
    await service.stop();
  }
}

/** Requests per second with the recorder, and without it (`other`). */
interface Figures {
  readonly recorded: number;
  readonly other: number;
}

/** Returns the median rate of each side. Ignores the first turn, because it began before the load. */
function figuresOf([, ...slices]: readonly Slice[]): Figures {
  const perSecond = (wanted: boolean) =>
    median(
      slices.filter(({ isRecorded }) => isRecorded === wanted).map((slice) => slice.perSecond),
    );
  return { recorded: perSecond(true), other: perSecond(false) };
}
