// (a), (b), (c): requests through the whole path, beside the bare server on the same routes.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Loader } from './load.ts';
import { median, type Measurement, type Pace } from './report.ts';
import { benchModule, startBareFastify, startSvc, type Service } from './service.ts';

const CONNECTIONS = 64;
const ENTITIES = 1_000;
const many = Array.from({ length: ENTITIES }, (_, index) => `/counters/c${index}`);
const one = ['/counters/only'];

const SCENARIOS = [
  { letter: 'a', what: 'GET: endpoint, query of 1,000 entities', method: 'GET', paths: many },
  {
    letter: 'b',
    what: 'POST: endpoint, durable command, 1,000 entities',
    method: 'POST',
    paths: many,
  },
  { letter: 'c', what: 'POST: the same on one entity', method: 'POST', paths: one },
] as const;

export async function measureHttp(
  wanted: ReadonlySet<string>,
  { seconds, rounds }: Pace,
  loader: Loader,
): Promise<Measurement[]> {
  const module = await benchModule();
  const measurements: Measurement[] = [];
  const services: Service[] = [];
  try {
    const svc = await startSvc(module.file, join(module.folder, 'data'));
    services.push(svc);
    const bare = await startBareFastify();
    services.push(bare);
    for (const { letter, what, method, paths } of SCENARIOS.filter((scenario) =>
      wanted.has(scenario.letter),
    )) {
      const load = async (url: string, forSeconds: number) =>
        loader.run({
          url,
          method,
          paths,
          body: method === 'POST' ? '{"amount":1}' : undefined,
          connections: CONNECTIONS,
          seconds: forSeconds,
        });
      // Compiled, and every entity in memory, before anything counts.
      for (const { url } of [svc, bare]) await load(url, Math.max(3, seconds));
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
        cores: `each side and the load share ${availableParallelism()}`,
      });
    }
  } finally {
    await Promise.all(services.map((service) => service.stop()));
    module.remove();
  }
  return measurements;
}
