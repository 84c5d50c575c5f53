// Measurements (a), (b), (b1), (c): requests through the whole path, compared with the bare server on the same routes.
// In a measurement on one core, the server has this core to itself, and the load runs on the other cores.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { oneCoreForServer, type Placement } from './cores.ts';
import type { Loader } from './load.ts';
import { median, type Measurement, type Pace } from './report.ts';
import {
  benchModule,
  startBareFastify,
  startSvc,
  type BenchModule,
  type Service,
} from './service.ts';

const CONNECTIONS = 64;
const ENTITIES = 1_000;
const many = Array.from({ length: ENTITIES }, (_, index) => `/counters/c${index}`);
const one = ['/counters/only'];

interface Scenario {
  readonly letter: string;
  readonly what: string;
  readonly method: 'GET' | 'POST';
  readonly paths: readonly string[];
  readonly hasOneCore: boolean;
}

const SCENARIOS: readonly Scenario[] = [
  {
    letter: 'a',
    what: 'GET on one core: endpoint, query of 1,000 entities',
    method: 'GET',
    paths: many,
    hasOneCore: true,
  },
  {
    letter: 'b',
    what: 'POST on all cores: endpoint, durable command, 1,000 entities',
    method: 'POST',
    paths: many,
    hasOneCore: false,
  },
  {
    letter: 'b1',
    what: 'POST on one core, server and journal: the same',
    method: 'POST',
    paths: many,
    hasOneCore: true,
  },
  {
    letter: 'c',
    what: 'POST on all cores: the same on one entity',
    method: 'POST',
    paths: one,
    hasOneCore: false,
  },
];

export async function measureHttp(
  wanted: ReadonlySet<string>,
  pace: Pace,
  loader: Loader,
): Promise<Measurement[]> {
  const module = await benchModule();
  const measurements: Measurement[] = [];
  try {
    for (const hasOneCore of [true, false]) {
      const scenarios = SCENARIOS.filter(
        (scenario) => scenario.hasOneCore === hasOneCore && wanted.has(scenario.letter),
      );
      if (scenarios.length === 0) continue;
      const placement: Placement = hasOneCore
        ? oneCoreForServer()
        : { kind: 'unpinned', reason: '' };
      measurements.push(...(await measureOn(placement, scenarios, module, pace, loader)));
    }
  } finally {
    module.remove();
  }
  return measurements.toSorted((first, second) => (first.letter < second.letter ? -1 : 1));
}

async function measureOn(
  placement: Placement,
  scenarios: readonly Scenario[],
  module: BenchModule,
  { seconds, rounds, warmUpSeconds }: Pace,
  loader: Loader,
): Promise<Measurement[]> {
  const { server, load: loadProcessors } =
    placement.kind === 'pinned' ? placement : { server: undefined, load: undefined };
  const measurements: Measurement[] = [];
  const services: Service[] = [];
  try {
    const svc = await startSvc(module.file, join(module.folder, `data-${placement.kind}`), server);
    services.push(svc);
    const bare = await startBareFastify(server);
    services.push(bare);
    for (const { letter, what, method, paths, hasOneCore } of scenarios) {
      const load = async (url: string, forSeconds: number) =>
        loader.run({
          url,
          method,
          paths,
          body: method === 'POST' ? '{"amount":1}' : undefined,
          connections: CONNECTIONS,
          seconds: forSeconds,
          processors: loadProcessors,
        });
      // Before the measurement the code is compiled, and every entity is in memory.
      if (warmUpSeconds > 0)
        for (const { url } of [svc, bare]) await load(url, Math.max(warmUpSeconds, seconds));
      const figures: { svc: number; bare: number }[] = [];
      for (let round = 0; round < rounds; round++)
        figures.push({ svc: await load(svc.url, seconds), bare: await load(bare.url, seconds) });
      measurements.push({
        letter,
        what: `${what}, ${CONNECTIONS} connections`,
        svc: median(figures.map((figure) => figure.svc)),
        beside: 'bare fastify, a constant',
        other: median(figures.map((figure) => figure.bare)),
        unit: 'per second',
        ratio: median(figures.map((figure) => figure.svc / figure.bare)),
        cores: coresOf(placement, hasOneCore),
      });
    }
  } finally {
    await Promise.all(services.map((service) => service.stop()));
  }
  return measurements;
}

function coresOf(placement: Placement, hasOneCore: boolean): string {
  if (placement.kind === 'pinned') return 'one a side, the load on another';
  const shared = `all ${availableParallelism()} a side, the load included`;
  return hasOneCore ? `not pinned (${placement.reason}): ${shared}` : shared;
}
