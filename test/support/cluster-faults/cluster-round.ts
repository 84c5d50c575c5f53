// ClusterRound loads a cluster while the faults of a schedule happen to it, and then compares what callers were answered with what may have
// happened: registers and counters are linearizable, and with followers each event is consumed once and in order, timers fire once, and rows are complete.
// Once the faults have ended, everything has to answer.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { ClusterLoad } from '../cluster-load/cluster-load.ts';
import { OrderLoad } from '../cluster-load/order-load.ts';
import { Random } from '../random.ts';
import { faultSchedule, faultText, standbyClockMs, type ScheduledFault } from './fault-schedule.ts';
import { FaultyCluster } from './faulty-cluster.ts';
import { killedUntilAnswered } from './kill-times.ts';

export interface RoundOptions {
  readonly seed: number;
  /** No fault begins later. */
  readonly lengthMs: number;
  readonly module: string;
  /** The module has orders, which a view, a consumer and timers follow. */
  readonly isFollowed: boolean;
  /** An empty folder. A round with problems leaves its history there. */
  readonly scratch: string;
  readonly onFault?: (text: string) => void;
}

export interface RoundDone {
  readonly schedule: readonly ScheduledFault[];
  readonly problems: readonly string[];
  /** The file with the history of a round that has problems. */
  readonly history: string | undefined;
  /** Requests to registers and counters, and their history. */
  readonly load: ClusterLoad;
  /** Number of orders that were placed. */
  readonly placed: number;
  /** The longest time that an entity took to answer after its node was killed at the end, without other faults. */
  readonly killMs: number | undefined;
}

/** 100 to 150 requests a second. */
const LOAD = { callers: 12, restMs: 80, entities: 16, operationsPerEntity: 60, timeoutMs: 5_000 };
/** 30 to 60 requests a second. */
const ORDER_LOAD = { pauseMs: 200, timeoutMs: 5_000 };
const ORDERS = Array.from({ length: 12 }, (_, index) => `order-${index}`);
const REQUESTS_MAX = 1_000_000;
/** Requests that are answered before the first fault, and after the last one. */
const BETWEEN = 100;
const PATIENCE_MS = 120_000;
const LOOK_MS = 200;
const NOTHING_BEHIND = { timers: 0, deadlines: 0, events: 0 };

export async function clusterRound(options: RoundOptions): Promise<RoundDone> {
  const { seed, lengthMs, module, scratch } = options;
  const loads: { setUrl(name: string, url: string): void }[] = [];
  const cluster = await FaultyCluster.start({
    module,
    scratch,
    standbyClockMs: standbyClockMs(seed),
    onUrl: ({ name, url }) => {
      for (const load of loads) load.setUrl(name, url);
    },
  });
  const schedule = faultSchedule({ seed, nodes: cluster.nodes.length, lengthMs });
  const over = new AbortController();
  const nodes = Object.fromEntries(cluster.nodes.map(({ name, url }) => [name, url]));
  const load = new ClusterLoad({ ...LOAD, nodes, seed, requestsMax: REQUESTS_MAX });
  const orders = new OrderLoad({
    ...ORDER_LOAD,
    orders: options.isFollowed ? ORDERS : [],
    nodes: cluster.nodes.map(({ name, url }) => ({ name, url })),
    random: new Random(seed),
    isOver: over.signal,
  });
  loads.push(load, orders);
  const problems: string[] = [];
  let killMs: number | undefined;
  try {
    const running = orders.run();
    running.catch((error: unknown) => problems.push(`orders: ${String(error)}`));
    await load.answered(BETWEEN);
    await cluster.carryOut(schedule, options.onFault);
    await cluster.settled();
    await load.answered(BETWEEN);
    const { failedCount } = load;
    await load.end();
    if (load.failedCount > failedCount)
      problems.push(
        `${load.failedCount - failedCount} entities did not answer once all faults had ended`,
      );
    orders.end();
    await within(running, 'the last orders are placed');
    if (options.isFollowed) await followed(cluster, orders);
    await cluster.served.checkNumbers();
    killMs = await killedUntilAnswered(cluster, new Random(seed));
  } catch (error) {
    problems.push(String(error));
  } finally {
    over.abort();
    load.close();
    problems.push(...cluster.problems, ...load.problems());
    await cluster.close();
  }
  const history = problems.length === 0 ? undefined : join(scratch, 'history.json');
  if (history !== undefined) writeFileSync(history, historyText(cluster, load, schedule, problems));
  return {
    schedule,
    problems,
    history,
    load,
    placed: [...orders.placed.values()].reduce((sum, number) => sum + number, 0),
    killMs,
  };
}

/** Resolves once views, consumers and timers have followed. Throws if they have left out, repeated or exchanged anything. */
async function followed(cluster: FaultyCluster, orders: OrderLoad): Promise<void> {
  const { served } = cluster;
  await orders.quiet();
  await until('all timers have fired and all events are consumed', async () =>
    isDeepStrictEqual(await orders.behind(served), NOTHING_BEHIND),
  );
  const counts = await orders.check(served);
  for (const node of cluster.nodes)
    await until(`node ${node.name} has the rows of all events`, async () =>
      isDeepStrictEqual(await orders.rows(node), counts),
    );
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > untilMs) throw new Error(`it has not come to be that ${what}`);
    await delay(LOOK_MS);
  }
}

async function within(done: Promise<void>, what: string): Promise<void> {
  const late = new AbortController();
  await Promise.race([
    done,
    delay(PATIENCE_MS, undefined, { signal: late.signal }).then(() => {
      throw new Error(`it has not come to be that ${what}`);
    }),
  ]);
  late.abort();
}

function historyText(
  cluster: FaultyCluster,
  load: ClusterLoad,
  schedule: readonly ScheduledFault[],
  problems: readonly string[],
): string {
  const { registers, counters, failures } = load;
  const { logs } = cluster;
  const faults = schedule.map(faultText);
  return JSON.stringify({ problems, faults, failures, registers, counters, logs }, undefined, 1);
}
