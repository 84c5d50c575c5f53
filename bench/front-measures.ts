// FrontMeasures: what a program costs that stands in front of a server: processor time, added time, memory. Each figure of svc's program is
// measured in turns with that of a peer; without the peer there is svc's figure alone.
import { setTimeout as pause } from 'node:timers/promises';
import { oneCoreForServer, working } from './cores.ts';
import { isInstalled, type PeerKind, type Served } from './fronts.ts';
import { residentMib } from './memory.ts';
import { processorUs } from './processor-time.ts';
import { ProxyClient } from './proxy-client.ts';
import { median, type Measurement, type Pace } from './report.ts';

export const CONNECTIONS = 64;
const IDLE_CONNECTIONS = 2_000;
const TRIAL_IDLE_CONNECTIONS = 100;
/** A shorter time is too short for the system's count of processor time. */
const SECONDS_MIN = 0.5;
/** Until what the handshakes have allocated is released, in milliseconds. */
const SETTLE_MS = 5_000;
const KIB_PER_MIB = 1_024;
const US_PER_MS = 1_000;
/** Less is noise: on a busy machine the way without a front may even be the slower one. */
const ADDED_US_MIN = 1;

export interface Sides {
  readonly svc: Served;
  readonly peerKind: PeerKind;
  /** Undefined: it is not installed. */
  readonly peer: Served | undefined;
}

/** A figure of each side, of every round. */
export interface Figures {
  readonly svc: readonly number[];
  readonly peer: readonly number[];
}

/** Processors in the format of taskset; undefined: any. */
export interface FrontProcessors {
  readonly front: string | undefined;
  readonly behind: string | undefined;
}

export type Measured = Omit<Measurement, 'letter' | 'cores'>;

export interface FrontRows<Bench> {
  /** Starts the server behind. */
  readonly open: (processors: FrontProcessors) => Promise<Bench>;
  /** Names of the measured front and of the server behind it. */
  readonly words: { readonly front: string; readonly behind: string };
  /** By letter. */
  readonly rows: Readonly<Record<string, (bench: Bench, pace: Pace) => Promise<Measured>>>;
}

/** Measures the wanted rows, the front on a core of its own if there are two. */
export async function measureFronts<Bench extends { close(): Promise<void> }>(
  { open, words, rows }: FrontRows<Bench>,
  wanted: ReadonlySet<string>,
  pace: Pace,
): Promise<Measurement[]> {
  const placement = oneCoreForServer();
  const pinned = placement.kind === 'pinned' ? placement : undefined;
  const cores =
    placement.kind === 'pinned'
      ? `one for the ${words.front}, the load and the ${words.behind} on another`
      : `not pinned (${placement.reason}): shared by all`;
  const bench = await open({ front: pinned?.server, behind: pinned?.load });
  const measurements: Measurement[] = [];
  try {
    await working(pinned?.load, async () => {
      for (const [letter, measure] of Object.entries(rows))
        if (wanted.has(letter))
          measurements.push({ letter, cores, ...(await measure(bench, pace)) });
    });
    return measurements;
  } finally {
    await bench.close();
  }
}

/** Starts both sides, the peer if it is installed. */
export async function sidesOf(
  peerKind: PeerKind,
  start: (kind: 'svc' | PeerKind) => Promise<Served>,
): Promise<Sides> {
  return {
    svc: await start('svc'),
    peerKind,
    peer: isInstalled(peerKind) ? await start(peerKind) : undefined,
  };
}

/** Requests per second of the front's processor time. */
export async function requestsPerProcessorSecond(sides: Sides, pace: Pace): Promise<Figures> {
  const forMs = Math.max(pace.seconds, SECONDS_MIN) * 1000;
  const clients = new Map<Served, ProxyClient>();
  try {
    for (const served of listed(sides)) {
      const client = await ProxyClient.open(CONNECTIONS, served.dial);
      clients.set(served, client);
      if (pace.warmUpSeconds > 0) await client.load(pace.warmUpSeconds * 1000);
    }
    return await inTurns(sides, pace.rounds, async (served) => {
      const beforeUs = processorUs(served.pid);
      const answers = await clients.get(served)!.load(forMs);
      return answers / ((processorUs(served.pid) - beforeUs) / 1e6);
    });
  } finally {
    for (const client of clients.values()) client.close();
  }
}

/** Microseconds that the front adds to a request, the only one under way: the median of each round. */
export async function addedToRequestUs(direct: Served, sides: Sides, pace: Pace): Promise<Figures> {
  const clients = new Map<Served, ProxyClient>();
  try {
    for (const served of [direct, ...listed(sides)]) {
      const client = await ProxyClient.open(1, served.dial);
      clients.set(served, client);
      if (pace.warmUpSeconds > 0) await client.latenciesMs(pace.warmUpSeconds * 1000);
    }
    return await addedUs(direct, sides, pace, async (served) =>
      clients.get(served)!.latenciesMs(pace.seconds * 1000),
    );
  } finally {
    for (const client of clients.values()) client.close();
  }
}

/** Returns the median time of each round, less that of the server without a front, in microseconds. */
export async function addedUs(
  direct: Served,
  sides: Sides,
  { rounds }: Pace,
  timesMs: (served: Served) => Promise<readonly number[]>,
): Promise<Figures> {
  return inTurns(sides, rounds, async (served) => {
    const directMs = median(await timesMs(direct));
    const added = (median(await timesMs(served)) - directMs) * US_PER_MS;
    return Math.max(added, ADDED_US_MIN);
  });
}

/** Memory of an idle connection after one request, in KiB, and the number of connections. */
export async function idleConnectionKib(
  sides: Sides,
  { warmUpSeconds }: Pace,
): Promise<Figures & { readonly count: number }> {
  const isTrial = warmUpSeconds === 0;
  const count = isTrial ? TRIAL_IDLE_CONNECTIONS : IDLE_CONNECTIONS;
  const figures = await inTurns(sides, 1, async ({ pid, dial }) => {
    const warm = await ProxyClient.open(1, dial);
    if (warmUpSeconds > 0) await warm.load(warmUpSeconds * 1000);
    const before = residentMib(pid).now;
    const idle = await ProxyClient.open(count, dial);
    if (!isTrial) await pause(SETTLE_MS);
    const kib = (residentMib(pid).now - before) * KIB_PER_MIB;
    idle.close();
    warm.close();
    return kib / count;
  });
  return { ...figures, count };
}

/** Returns the figures as a row has them: medians, and the median of the ratios of all rounds. */
export function compared(
  { svc, peer }: Figures,
  { peerKind }: Sides,
  beside: string,
): Pick<Measurement, 'svc' | 'beside' | 'other' | 'ratio'> {
  return peer.length === 0
    ? {
        svc: median(svc),
        beside: `${peerKind} is not installed`,
        other: undefined,
        ratio: undefined,
      }
    : {
        svc: median(svc),
        beside,
        other: median(peer),
        ratio: median(svc.map((figure, round) => figure / peer[round]!)),
      };
}

function listed({ svc, peer }: Sides): readonly Served[] {
  return peer === undefined ? [svc] : [svc, peer];
}

async function inTurns(
  { svc, peer }: Sides,
  rounds: number,
  measure: (served: Served) => Promise<number>,
): Promise<Figures> {
  const figures: { svc: number[]; peer: number[] } = { svc: [], peer: [] };
  for (let round = 0; round < rounds; round++) {
    figures.svc.push(await measure(svc));
    if (peer !== undefined) figures.peer.push(await measure(peer));
  }
  return figures;
}
