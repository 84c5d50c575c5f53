// SimulatedFaults let a SimulatedCluster fail at random: nodes are killed, stopped, suspended or replaced, links are cut, connections are
// lost, the database ends, is slow, or is replaced by its standby, and clocks are set.
import type { SimulatedCluster } from './simulated-cluster.ts';
import { DATABASE } from '../../support/modelled-database/modelled-server.ts';

/** Times of faults, in milliseconds: most are short, some are longer than a lease. */
const SHORT_MS = 600;
const LONG_MS = 9_000;
/** Longest pause between two faults, in milliseconds. */
const PAUSE_MS = 2_500;
/** The server is away for at most so long, in milliseconds. */
const AWAY_MS = 9_000;
/** Commits of a server that is slow take at most so much longer, in milliseconds. */
const SLOW_MS = 800;
/** Commits take at most so much longer while nodes are replaced, in milliseconds. */
const CALM_SLOW_MS = 20;
/** So many of a hundred statements come late. */
const LATE_PERCENT = 4;
/** So many come late for so many milliseconds while a node is replaced. */
const OFTEN_LATE_PERCENT = 25;
const OFTEN_LATE_MS = 1_500;
/** Wall clocks are set by at most so much, in milliseconds. */
const SET_MS = 3_600_000;

type Fault = (cluster: SimulatedCluster, place: number) => void;

/** Faults, each with how often it is drawn, compared with the others. */
const FAULTS: readonly (readonly [weight: number, name: string, fault: Fault])[] = [
  [4, 'is killed', (cluster, place) => cluster.kill(place, duration(cluster))],
  [5, 'is replaced', (cluster, place) => cluster.replace(place)],
  [4, 'is replaced while statements are late', replaceLate],
  [4, 'is stopped', (cluster, place) => stopNode(cluster, place, 'stopped')],
  [3, 'is suspended, or stopped', suspendOrStop],
  [5, 'is cut off from the database', (cluster, place) => cut(cluster, node(place), DATABASE)],
  [
    4,
    'is cut off from the next one',
    (cluster, place) => cut(cluster, node(place), next(cluster, place)),
  ],
  [3, 'is cut off from its callers', (cluster, place) => cut(cluster, node(place), 'callers')],
  [4, 'and others lose connections to the database', resetSessions],
  [2, 'sees the database end', (cluster) => endServer(cluster, 'again')],
  [2, 'sees the standby promoted', (cluster) => endServer(cluster, 'promoted')],
  [2, 'sees the database slow', slowServer],
  [2, 'has its clock set, or not', setClock],
];
const WEIGHT = FAULTS.reduce((sum, [weight]) => sum + weight, 0);

/** Lets things go wrong for so many milliseconds, and puts everything right again. */
export async function faultsFor(cluster: SimulatedCluster, ms: number): Promise<void> {
  const { random, time } = cluster;
  const untilMs = time.nowMs + ms;
  cluster.database.stallMs = () => stallMs(cluster);
  cluster.latePercent = LATE_PERCENT;
  cluster.database.lateMs = () => lateMs(cluster);
  while (time.nowMs < untilMs) {
    await cluster.pause(random.below(random.chance(50) ? SHORT_MS : PAUSE_MS));
    const place = random.below(cluster.places);
    const [name, fault] = drawn(cluster);
    cluster.trace(`fault: node${place} ${name}`);
    fault(cluster, place);
  }
  cluster.database.stallMs = () => 0;
  cluster.database.lateMs = () => 0;
  cluster.database.slowMs = 0;
  if (!cluster.database.isRunning) cluster.database.restart();
  cluster.network.releaseAll();
  for (const { process } of cluster.nodes) process.resume();
}

/** Replaces one node after the other, as an update does. */
export async function rollingFor(cluster: SimulatedCluster, ms: number): Promise<void> {
  const { random, time } = cluster;
  const untilMs = time.nowMs + ms;
  cluster.database.slowMs = random.below(CALM_SLOW_MS);
  while (time.nowMs < untilMs) {
    await cluster.pause(random.below(SHORT_MS));
    if (cluster.nodes.filter(({ isServing }) => isServing).length === cluster.places)
      cluster.replace(random.below(cluster.places));
  }
}

function drawn({ random }: SimulatedCluster): readonly [string, Fault] {
  let left = random.below(WEIGHT);
  for (const [weight, name, fault] of FAULTS) {
    if (left < weight) return [name, fault];
    left -= weight;
  }
  throw new Error('a fault was not found');
}

function node(place: number): string {
  return `node${place}`;
}

function next({ places }: SimulatedCluster, place: number): string {
  return node((place + 1) % places);
}

function duration({ random }: SimulatedCluster): number {
  return random.below(random.chance(50) ? SHORT_MS : LONG_MS);
}

/** A transaction sometimes stops before its commit, and sometimes for longer than a lease. */
function stallMs({ random }: SimulatedCluster): number {
  const drawnOf = random.below(1_000);
  if (drawnOf < 3) return random.below(LONG_MS);
  return drawnOf < 30 ? random.below(SHORT_MS) : 0;
}

/** A statement comes late more often: until it is carried out, nothing that it does is locked. */
function lateMs(cluster: SimulatedCluster): number {
  return cluster.random.chance(cluster.latePercent)
    ? cluster.random.below(SHORT_MS)
    : stallMs(cluster);
}

/** Connections are lost while slices are handed over, with appends under way that are carried out later. */
function replaceLate(cluster: SimulatedCluster, place: number): void {
  cluster.latePercent = OFTEN_LATE_PERCENT;
  cluster.outside.timer(OFTEN_LATE_MS, () => {
    cluster.latePercent = LATE_PERCENT;
  });
  cluster.replace(place);
}

function stopNode(cluster: SimulatedCluster, place: number, how: 'stopped' | 'suspended'): void {
  const process = cluster.at(place)?.process;
  if (process === undefined) return;
  process.stop(how);
  cluster.outside.timer(duration(cluster), () => process.resume());
}

/**
 * A machine whose monotonic clock stops, and whose wall clock is set back meanwhile, cannot know for how long it was away. So a history has
 * either the one or the other.
 */
function suspendOrStop(cluster: SimulatedCluster, place: number): void {
  stopNode(cluster, place, cluster.setsClocks ? 'stopped' : 'suspended');
}

function cut(cluster: SimulatedCluster, one: string, other: string): void {
  const { random, network, outside } = cluster;
  const directions = random.pick([
    [[one, other]],
    [[other, one]],
    [
      [one, other],
      [other, one],
    ],
  ] as const);
  const ms = duration(cluster);
  for (const [from, to] of directions) {
    network.hold(from, to);
    outside.timer(ms, () => network.release(from, to));
  }
}

function resetSessions({ random, database }: SimulatedCluster): void {
  for (const backend of database.backends) if (random.chance(40)) backend.reset();
}

function endServer(cluster: SimulatedCluster, how: 'again' | 'promoted'): void {
  const { database, random, outside } = cluster;
  if (!database.isRunning) return;
  database.onEnd(() =>
    outside.timer(random.below(random.chance(60) ? SHORT_MS : AWAY_MS), () => {
      if (database.isRunning) return;
      if (how === 'again') database.restart();
      else database.promote(cluster.clocks());
    }),
  );
  database.crashAtCommit();
}

function slowServer(cluster: SimulatedCluster): void {
  const { database, random, outside } = cluster;
  database.slowMs = random.below(SLOW_MS);
  outside.timer(duration(cluster), () => {
    database.slowMs = 0;
  });
}

function setClock(cluster: SimulatedCluster, place: number): void {
  if (cluster.setsClocks)
    cluster.at(place)?.process.setWall(cluster.random.below(2 * SET_MS) - SET_MS);
}
