// Measurements (za) to (zc): the gateway in front of an instance, with TLS in front and behind, compared with nginx in front of the same
// instance. Without nginx a row has svc's figure alone.
import {
  addedToRequestUs,
  compared,
  CONNECTIONS,
  type FrontRows,
  idleConnectionKib,
  type Measured,
  measureFronts,
  requestsPerProcessorSecond,
  sidesOf,
} from './front-measures.ts';
import { GatewayBench } from './gateways.ts';
import type { Measurement, Pace } from './report.ts';

const ROWS: FrontRows<GatewayBench> = {
  open: (processors) => GatewayBench.open(processors),
  words: { front: 'gateway', behind: 'instance' },
  rows: {
    za: measureCost,
    zb: measureLatency,
    zc: measureIdle,
  },
};

export function measureGateway(wanted: ReadonlySet<string>, pace: Pace): Promise<Measurement[]> {
  return measureFronts(ROWS, wanted, pace);
}

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
