// InFlight: how often asynchronous tasks complete while a fixed number of their runs are in flight.
import { median, type Measurement, type Pace } from './report.ts';

/** Number of runs in flight at a time. */
export const IN_FLIGHT = 64;

/** A task. `turn`: the number of the run. */
export type Task = (turn: number) => Promise<void>;

export interface Rate {
  readonly perSecond: number;
  /** Processor time of a run, in microseconds. */
  readonly usedUs: number;
}

export interface ComparedRates {
  readonly rates: Pick<Measurement, 'svc' | 'other' | 'unit' | 'ratio'>;
  /** The ratio of the runs in the same processor time. */
  readonly ratioByProcessor: number;
}

/** Measures how often a task completes per second, compared with another one, in turns. `usedUs`: processor time so far. */
export async function compareRates(
  svc: Task,
  other: Task,
  { seconds, rounds, warmUpSeconds }: Pace,
  usedUs = ownUs,
): Promise<ComparedRates> {
  await rateOf(svc, warmUpSeconds, usedUs);
  await rateOf(other, warmUpSeconds / 2, usedUs);
  const figures: { readonly svc: Rate; readonly other: Rate }[] = [];
  for (let round = 0; round < rounds; round++)
    figures.push({
      svc: await rateOf(svc, seconds, usedUs),
      other: await rateOf(other, seconds, usedUs),
    });
  return {
    rates: {
      svc: median(figures.map((figure) => figure.svc.perSecond)),
      other: median(figures.map((figure) => figure.other.perSecond)),
      unit: 'per second',
      ratio: median(figures.map((figure) => figure.svc.perSecond / figure.other.perSecond)),
    },
    ratioByProcessor: median(figures.map((figure) => figure.other.usedUs / figure.svc.usedUs)),
  };
}

/** Measures a task. */
export async function rateOf(work: Task, seconds: number, usedUs = ownUs): Promise<Rate> {
  const beforeUs = usedUs();
  const startedMs = performance.now();
  const untilMs = startedMs + seconds * 1000;
  let done = 0;
  let turn = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      // oxlint-disable-next-line no-await-in-loop -- one run follows the other
      await work(turn++);
      done++;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  const perSecond = (done * 1000) / (performance.now() - startedMs);
  return { perSecond, usedUs: (usedUs() - beforeUs) / done };
}

/** Returns the processor time of this process so far, in microseconds. */
export function ownUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
