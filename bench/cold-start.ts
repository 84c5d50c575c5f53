// Measurement (e): the time from the start of the process to the first answer, compared with the bare server.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { firstRound, median, type Measurement, type Pace } from './report.ts';
import { benchModule, startBareFastify, startSvc, type Service } from './service.ts';

export async function measureColdStart(pace: Pace): Promise<Measurement[]> {
  const module = await benchModule();
  try {
    const figures: { svc: number; bare: number }[] = [];
    // The first start fills Node's cache of compiled sources, like the first start after an installation.
    for (let round = firstRound(pace); round < pace.starts; round++) {
      const figure = {
        svc: await firstAnswerMs(() => startSvc(module.file, join(module.folder, `data-${round}`))),
        bare: await firstAnswerMs(startBareFastify),
      };
      if (round >= 0) figures.push(figure);
    }
    const svc = median(figures.map((figure) => figure.svc));
    const bare = median(figures.map((figure) => figure.bare));
    return [
      {
        letter: 'e',
        what: 'cold start of `svc run` to the first answer',
        svc,
        beside: 'bare fastify',
        other: bare,
        unit: 'ms',
        ratio: svc / bare,
        cores: `${availableParallelism()} each`,
      },
    ];
  } finally {
    module.remove();
  }
}

/** Returns the milliseconds from the start of a service to its first answer. */
export async function firstAnswerMs(start: () => Promise<Service>): Promise<number> {
  const startedMs = performance.now();
  const service = await start();
  const response = await fetch(`${service.url}/counters/first`);
  await response.text();
  const tookMs = performance.now() - startedMs;
  await service.stop();
  if (response.status !== 200) throw new Error(`the first answer was ${response.status}`);
  return tookMs;
}
