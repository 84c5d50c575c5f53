// Measurements (za) to (zc): the gateway in front of an instance, with TLS in front and behind, compared with nginx in front of the same
// instance. Without nginx a row has svc's figure alone.
import { oneCoreForServer, working } from './cores.ts';
import {
  addedToRequestUs,
  compared,
  CONNECTIONS,
  idleConnectionKib,
  requestsPerProcessorSecond,
  sidesOf,
} from './front-measures.ts';
import { GatewayBench } from './gateways.ts';
import type { Measurement, Pace } from './report.ts';

type Measured = Omit<Measurement, 'letter' | 'cores'>;

export async function measureGateway(
  wanted: ReadonlySet<string>,
  pace: Pace,
): Promise<Measurement[]> {
  const placement = oneCoreForServer();
  const pinned = placement.kind === 'pinned' ? placement : undefined;
  const cores =
    placement.kind === 'pinned'
      ? 'one for the gateway, the load and the instance on another'
      : `not pinned (${placement.reason}): shared by all`;
  const bench = await GatewayBench.open({ gateway: pinned?.server, instance: pinned?.load });
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

const ROWS: readonly {
  readonly letter: string;
  readonly measure: (bench: GatewayBench, pace: Pace) => Promise<Measured>;
}[] = [
  { letter: 'za', measure: measureCost },
  { letter: 'zb', measure: measureLatency },
  { letter: 'zc', measure: measureIdle },
];

async function measureCost(bench: GatewayBench, pace: Pace): Promise<Measured> {
  const sides = await sidesOf('nginx', (kind) => bench.start(kind));
  const figures = await requestsPerProcessorSecond(sides, pace);
  const what = `the gateway, TLS in and out: requests per second of its processor time, 1 KiB, ${CONNECTIONS} connections`;
  return { what, unit: 'per second', ...compared(figures, sides, 'nginx, one worker') };
}

async function measureLatency(bench: GatewayBench, pace: Pace): Promise<Measured> {
  const sides = await sidesOf('nginx', (kind) => bench.start(kind));
  const figures = await addedToRequestUs(bench.direct, sides, pace);
  const what = 'the gateway, TLS in and out: time that it adds to a request, one connection, p50';
  return { what, unit: 'µs', ...compared(figures, sides, 'nginx, one worker') };
}

async function measureIdle(bench: GatewayBench, pace: Pace): Promise<Measured> {
  const sides = await sidesOf('nginx', (kind) => bench.start(kind));
  const { count, ...figures } = await idleConnectionKib(sides, pace);
  const what = `the gateway: memory of an idle connection, of ${count.toLocaleString('en-US')}`;
  return { what, unit: 'KiB', ...compared(figures, sides, 'nginx') };
}
