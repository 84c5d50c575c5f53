// (n), (n2): what it costs to record every invocation: a shard that does beside one that does not, each loaded over HTTP
// from within its own thread, as in (i2) and (j2).
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, type Measurement, type Pace } from './report.ts';
import { benchModule } from './service.ts';
import { LoadedService } from './shards.ts';

const SCENARIOS = [
  { letter: 'n', what: 'queries', route: 0 },
  { letter: 'n2', what: 'durable commands', route: 1 },
] as const;

export async function measureRecorder(
  wanted: ReadonlySet<string>,
  { seconds, rounds, warmUpSeconds }: Pace,
): Promise<Measurement[]> {
  const module = await benchModule();
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const services: LoadedService[] = [];
  try {
    const wasm = readFileSync(module.file);
    const [recorded, other] = [
      await LoadedService.start(wasm, join(folder, 'one'), { shards: 1, isRecorded: true }),
      await LoadedService.start(wasm, join(folder, 'other'), { shards: 1, isRecorded: false }),
    ];
    services.push(recorded, other);
    const measurements: Measurement[] = [];
    for (const { letter, what, route } of SCENARIOS.filter((each) => wanted.has(each.letter))) {
      const load = async (service: LoadedService, forSeconds: number) =>
        service.load({ route, isOverHttp: true }, forSeconds);
      for (const service of services) await load(service, warmUpSeconds);
      const figures: { recorded: number; other: number }[] = [];
      for (let round = 0; round < rounds; round++) {
        const isFirst = round % 2 === 0;
        const first = await load(isFirst ? recorded : other, seconds);
        const second = await load(isFirst ? other : recorded, seconds);
        figures.push(
          isFirst ? { recorded: first, other: second } : { recorded: second, other: first },
        );
      }
      measurements.push({
        letter,
        what: `one shard that records every invocation: ${what} over HTTP, its own client`,
        svc: median(figures.map((figure) => figure.recorded)),
        beside: 'the same without a recorder',
        other: median(figures.map((figure) => figure.other)),
        unit: 'per second',
        ratio: median(figures.map((figure) => figure.recorded / figure.other)),
        cores: `shard and journal's writer share ${availableParallelism()}`,
      });
    }
    return measurements;
  } finally {
    for (const service of services) await service.close();
    rmSync(folder, { recursive: true, force: true });
    module.remove();
  }
}
