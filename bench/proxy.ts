// Measurements (y) to (z): the proxy in front of a process, as `svc web` (plain) and `svc proxy` (mutual TLS) run it,
// compared with nginx and haproxy in front of the same process. Without the peer a row has svc's figure alone.
import { setTimeout as pause } from 'node:timers/promises';
import { oneCoreForServer, working } from './cores.ts';
import { residentMib } from './memory.ts';
import { processorUs } from './processor-time.ts';
import { type Front, isInstalled, type PeerKind, ProxyBench, type Served } from './proxies.ts';
import { eventDelaysMs, ProxyClient } from './proxy-client.ts';
import { median, type Measurement, type Pace } from './report.ts';

const CONNECTIONS = 64;
const IDLE_CONNECTIONS = 2_000;
const TRIAL_IDLE_CONNECTIONS = 100;
/** A shorter time is too short for the system's count of processor time. */
const SECONDS_MIN = 0.5;
/** Until what the handshakes have allocated is released, in milliseconds. */
const SETTLE_MS = 5_000;
const KIB_PER_MIB = 1_024;
const US_PER_MS = 1_000;
/** Less is noise: on a busy machine the way without a proxy may even be the slower one. */
const ADDED_US_MIN = 1;

interface Sides {
  readonly svc: Served;
  /** Undefined: it is not installed. */
  readonly peer: Served | undefined;
}

/** A figure of each side, of every round. */
interface Figures {
  readonly svc: readonly number[];
  readonly peer: readonly number[];
}

export async function measureProxy(
  wanted: ReadonlySet<string>,
  pace: Pace,
): Promise<Measurement[]> {
  const placement = oneCoreForServer();
  const pinned = placement.kind === 'pinned' ? placement : undefined;
  const cores =
    placement.kind === 'pinned'
      ? 'one for the proxy, the load and the process on another'
      : `not pinned (${placement.reason}): shared by all`;
  const bench = await ProxyBench.open({ proxy: pinned?.server, web: pinned?.load });
  const measurements: Measurement[] = [];
  try {
    await working(pinned?.load, async () => {
      for (const { letter, measure } of ROWS)
        if (wanted.has(letter))
          measurements.push({ letter, cores, ...(await measure(bench, pace)) });
    });
    return measurements;
  } finally {
    await bench.close();
  }
}

type Measured = Omit<Measurement, 'letter' | 'cores'>;

const ROWS: readonly {
  readonly letter: string;
  readonly measure: (bench: ProxyBench, pace: Pace) => Promise<Measured>;
}[] = [
  { letter: 'y', measure: async (bench, pace) => measureCost(bench, pace, 'plain') },
  { letter: 'y2', measure: async (bench, pace) => measureCost(bench, pace, 'mutual TLS') },
  { letter: 'y3', measure: measureLatency },
  { letter: 'y4', measure: measureEvents },
  { letter: 'z', measure: measureIdle },
];

/** Requests per second of the proxy's processor time. */
async function measureCost(bench: ProxyBench, pace: Pace, front: Front): Promise<Measured> {
  const forMs = Math.max(pace.seconds, SECONDS_MIN) * 1000;
  const sides = await sidesOf(bench, 'nginx', front);
  const clients = new Map<Served, ProxyClient>();
  try {
    for (const served of listed(sides)) {
      const client = await ProxyClient.open(CONNECTIONS, served.dial);
      clients.set(served, client);
      if (pace.warmUpSeconds > 0) await client.load(pace.warmUpSeconds * 1000);
    }
    const figures = await inTurns(sides, pace.rounds, async (served) => {
      const beforeUs = processorUs(served.pid);
      const answers = await clients.get(served)!.load(forMs);
      return answers / ((processorUs(served.pid) - beforeUs) / 1e6);
    });
    const what = `the proxy, ${front}: requests per second of its processor time, 1 KiB, ${CONNECTIONS} connections`;
    return { what, unit: 'per second', ...compared(figures, 'nginx, one worker', 'nginx') };
  } finally {
    for (const client of clients.values()) client.close();
  }
}

/** Time that the proxy adds to a request, the only one under way. */
async function measureLatency(bench: ProxyBench, pace: Pace): Promise<Measured> {
  const sides = await sidesOf(bench, 'haproxy', 'mutual TLS');
  const clients = new Map<Served, ProxyClient>();
  try {
    for (const served of [bench.direct, ...listed(sides)]) {
      const client = await ProxyClient.open(1, served.dial);
      clients.set(served, client);
      if (pace.warmUpSeconds > 0) await client.latenciesMs(pace.warmUpSeconds * 1000);
    }
    const figures = await addedUs(bench, sides, pace, async (served) =>
      clients.get(served)!.latenciesMs(pace.seconds * 1000),
    );
    const what = 'the proxy, mutual TLS: time that it adds to a request, one connection, p50';
    return { what, unit: 'µs', ...compared(figures, 'haproxy, one thread', 'haproxy') };
  } finally {
    for (const client of clients.values()) client.close();
  }
}

/** Time that the proxy adds to a server-sent event. */
async function measureEvents(bench: ProxyBench, pace: Pace): Promise<Measured> {
  const sides = await sidesOf(bench, 'nginx', 'mutual TLS');
  const figures = await addedUs(bench, sides, pace, async ({ dial }) =>
    eventDelaysMs(dial, pace.seconds * 1000),
  );
  const what = 'the proxy, mutual TLS: time that it adds to a server-sent event, p50';
  return { what, unit: 'µs', ...compared(figures, 'nginx, unbuffered', 'nginx') };
}

/** Memory of an idle connection, after one request. */
async function measureIdle(bench: ProxyBench, { warmUpSeconds }: Pace): Promise<Measured> {
  const sides = await sidesOf(bench, 'nginx', 'mutual TLS');
  const isTrial = warmUpSeconds === 0;
  const count = isTrial ? TRIAL_IDLE_CONNECTIONS : IDLE_CONNECTIONS;
  const figures = await inTurns(sides, 1, async ({ pid, dial }) => {
    const warm = await ProxyClient.open(1, dial);
    if (warmUpSeconds > 0) await warm.load(warmUpSeconds * 1000);
    const before = residentMib(pid).now;
    const idle = await ProxyClient.open(count, dial);
    if (!isTrial) await pause(SETTLE_MS);
    const bytes = (residentMib(pid).now - before) * KIB_PER_MIB;
    idle.close();
    warm.close();
    return bytes / count;
  });
  const what = `the proxy: memory of an idle connection of mutual TLS, of ${count.toLocaleString('en-US')}`;
  return { what, unit: 'KiB', ...compared(figures, 'nginx', 'nginx') };
}

async function sidesOf(bench: ProxyBench, peer: PeerKind, front: Front): Promise<Sides> {
  return {
    svc: await bench.start('svc', front),
    peer: isInstalled(peer) ? await bench.start(peer, front) : undefined,
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

/** Returns the median time of each round, less that of the process without a proxy, in microseconds. */
async function addedUs(
  bench: ProxyBench,
  sides: Sides,
  { rounds }: Pace,
  timesMs: (served: Served) => Promise<readonly number[]>,
): Promise<Figures> {
  return inTurns(sides, rounds, async (served) => {
    const directMs = median(await timesMs(bench.direct));
    const added = (median(await timesMs(served)) - directMs) * US_PER_MS;
    return Math.max(added, ADDED_US_MIN);
  });
}

function compared(
  { svc, peer }: Figures,
  beside: string,
  kind: PeerKind,
): Pick<Measurement, 'svc' | 'beside' | 'other' | 'ratio'> {
  return peer.length === 0
    ? { svc: median(svc), beside: `${kind} is not installed`, other: undefined, ratio: undefined }
    : {
        svc: median(svc),
        beside,
        other: median(peer),
        ratio: median(svc.map((figure, round) => figure / peer[round]!)),
      };
}
