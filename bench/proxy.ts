// Measurements (y) to (z): the proxy in front of a process, as `svc web` (plain) and `svc proxy` (mutual TLS) run it,
// compared with nginx and haproxy in front of the same process. Without the peer a row has svc's figure alone.
import {
  addedToRequestUs,
  addedUs,
  compared,
  CONNECTIONS,
  type FrontRows,
  idleConnectionKib,
  type Measured,
  measureFronts,
  requestsPerProcessorSecond,
  type Sides,
  sidesOf,
} from './front-measures.ts';
import type { PeerKind } from './fronts.ts';
import { type Front, ProxyBench } from './proxies.ts';
import { eventDelaysMs } from './proxy-client.ts';
import type { Measurement, Pace } from './report.ts';

const ROWS: FrontRows<ProxyBench> = {
  open: (processors) => ProxyBench.open(processors),
  words: { front: 'proxy', behind: 'process' },
  rows: {
    y: (bench, pace) => measureCost(bench, pace, 'plain'),
    y2: (bench, pace) => measureCost(bench, pace, 'mutual TLS'),
    y3: measureLatency,
    y4: measureEvents,
    z: measureIdle,
  },
};

export function measureProxy(wanted: ReadonlySet<string>, pace: Pace): Promise<Measurement[]> {
  return measureFronts(ROWS, wanted, pace);
}

/** Requests per second of the proxy's processor time. */
async function measureCost(bench: ProxyBench, pace: Pace, front: Front): Promise<Measured> {
  const sides = await startSides(bench, 'nginx', front);
  const figures = await requestsPerProcessorSecond(sides, pace);
  const what = `the proxy, ${front}: requests per second of its processor time, 1 KiB, ${CONNECTIONS} connections`;
  return { what, unit: 'per second', ...compared(figures, sides, 'nginx, one worker') };
}

/** Time that the proxy adds to a request, the only one under way. */
async function measureLatency(bench: ProxyBench, pace: Pace): Promise<Measured> {
  const sides = await startSides(bench, 'haproxy', 'mutual TLS');
  const figures = await addedToRequestUs(bench.direct, sides, pace);
  const what = 'the proxy, mutual TLS: time that it adds to a request, one connection, p50';
  return { what, unit: 'µs', ...compared(figures, sides, 'haproxy, one thread') };
}

/** Time that the proxy adds to a server-sent event. */
async function measureEvents(bench: ProxyBench, pace: Pace): Promise<Measured> {
  const sides = await startSides(bench, 'nginx', 'mutual TLS');
  const figures = await addedUs(bench.direct, sides, pace, async ({ dial }) =>
    eventDelaysMs(dial, pace.seconds * 1000),
  );
  const what = 'the proxy, mutual TLS: time that it adds to a server-sent event, p50';
  return { what, unit: 'µs', ...compared(figures, sides, 'nginx, unbuffered') };
}

/** Memory of an idle connection, after one request. */
async function measureIdle(bench: ProxyBench, pace: Pace): Promise<Measured> {
  const sides = await startSides(bench, 'nginx', 'mutual TLS');
  const { count, ...figures } = await idleConnectionKib(sides, pace);
  const what = `the proxy: memory of an idle connection of mutual TLS, of ${count.toLocaleString('en-US')}`;
  return { what, unit: 'KiB', ...compared(figures, sides, 'nginx') };
}

function startSides(bench: ProxyBench, peer: PeerKind, front: Front): Promise<Sides> {
  return sidesOf(peer, (kind) => bench.start(kind, front));
}
