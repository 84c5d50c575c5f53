// Simulation plays the history of one seed: nodes, callers and faults on the production code with a model of the database, in virtual time.
// At its end everything is put right, and every entity has to answer again.
//
// Invariant: a seed makes the same history each time.
import { checkHistory } from '../../support/linearizability/check-history.ts';
import { COUNTER } from '../../support/linearizability/counter-model.ts';
import { REGISTER } from '../../support/linearizability/register-model.ts';
import type { DatabaseFlaws } from '../../support/modelled-database/statement-run.ts';
import { faultsFor, rollingFor } from './simulated-faults.ts';
import { SimulatedCluster } from './simulated-cluster.ts';

export interface SimulationOptions {
  readonly flaws?: DatabaseFlaws;
  /** Receives lines about what happens. */
  readonly trace?: ((line: string) => void) | undefined;
}

export interface Played {
  readonly complaints: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
  /** Number of events of virtual time. */
  readonly events: number;
}

/** One of so many histories has no faults: nodes are replaced, and no request may fail. */
const CALM_EVERY = 5;
const STARTED_MS_MAX = 60_000;
/** How long nodes are replaced, and how long things go wrong at least, and longer, in milliseconds. */
const CALM_MS = 4_000;
const FAULTY_MS_MIN = 3_000;
const FAULTY_MS = 9_000;
/** After the end of all faults every entity answers within this time, in milliseconds. */
const HEALED_MS_MAX = 40_000;
const LOOK_MS = 100;
/** A history has fewer events. */
const EVENTS_MAX = 3_000_000;
/** Time of the check of a history, in milliseconds. */
const CHECK_MS = 20_000;

/** Plays the history of a seed. */
export async function simulated(
  seed: number,
  { flaws = {}, trace }: SimulationOptions = {},
): Promise<Played> {
  const isCalm = seed % CALM_EVERY === 0;
  const cluster = new SimulatedCluster({ seed, isCalm, flaws, trace });
  let isOver = false;
  cluster.outside.within(() => {
    void history(cluster, isCalm)
      .catch((error: unknown) => cluster.complain(`the simulation failed: ${String(error)}`))
      .finally(() => {
        isOver = true;
      });
  });
  await cluster.time
    .run(() => isOver, EVENTS_MAX)
    .catch((error: unknown) => cluster.complain(`it did not end: ${String(error)}`));
  cluster.close();
  const { callers } = cluster;
  const limits = { timeMs: CHECK_MS };
  return {
    complaints: [
      ...cluster.complaints,
      ...checkHistory(COUNTER, callers.counters, limits).problems,
      ...checkHistory(REGISTER, callers.registers, limits).problems,
    ],
    counts: new Map([...callers.counts, ...Object.entries(cluster.watch.counts)]),
    events: cluster.time.count,
  };
}

async function history(cluster: SimulatedCluster, isCalm: boolean): Promise<void> {
  const { callers, random } = cluster;
  await until(cluster, STARTED_MS_MAX, 'all nodes serve', () => areServing(cluster));
  if (isCalm) await rollingFor(cluster, CALM_MS);
  else await faultsFor(cluster, FAULTY_MS_MIN + random.below(FAULTY_MS));
  await callers.end();
  cluster.resetClocks();
  await until(cluster, HEALED_MS_MAX, 'all nodes serve again', () => areServing(cluster));
  let isAnswered = false;
  await until(cluster, HEALED_MS_MAX, 'every entity answers', async () => {
    isAnswered = await callers.readAll();
    return isAnswered;
  });
  if (isCalm)
    for (const kind of ['not-done', 'unknown'])
      if ((callers.counts.get(kind) ?? 0) > 0)
        cluster.complain(
          `${callers.counts.get(kind)} requests were ${kind} although nothing failed`,
        );
}

function areServing({ nodes, places }: SimulatedCluster): boolean {
  return nodes.filter(({ isServing, isMember }) => isServing && isMember).length === places;
}

/** Waits until something holds, and complains if it does not come. */
async function until(
  cluster: SimulatedCluster,
  withinMs: number,
  what: string,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  const endMs = cluster.time.nowMs + withinMs;
  while (!(await holds())) {
    if (cluster.time.nowMs > endMs) {
      cluster.complain(`within ${withinMs} ms it did not come that ${what}`);
      return;
    }
    await cluster.pause(LOOK_MS);
  }
}
