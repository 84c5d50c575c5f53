// Measurement (r): how many events per second a service of one shard delivers to a consumer that makes one durable call for each,
// compared with the same commands called directly, as in (j) with one shard. Where the consumer is, is read from the
// journal, to which each call adds an event.
import { readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SqliteScan } from '../host/storage/sqlite/tools/journal-scan.ts';
import { appendToAll, withJournal } from './filled-journal.ts';
import { median, type Measurement, type Pace } from './report.ts';
import { benchModule, startSvc } from './service.ts';
import { LoadedService } from './shards.ts';

const FIXTURE = 'counter-mirror';
const ENTITIES = 1_000;
/** Events of a round for each second of the pace. */
const EVENTS_PER_SECOND = 20_000;
const POLL_MS = 5;
/** A round may take this long, in milliseconds, for each event that it delivers. */
const EVENT_MS_MAX = 10;
const START_MS_MAX = 30_000;
/** Part of the events before and after the measured ones: the service starts, and the last lanes end one by one. */
const EDGE = 0.1;

export async function measureConsumer({
  seconds,
  rounds,
  warmUpSeconds,
}: Pace): Promise<Measurement[]> {
  const module = await benchModule(FIXTURE);
  const direct = await LoadedService.start(
    readFileSync(module.file),
    join(module.folder, 'direct'),
    1,
  );
  const command = { route: 1, isOverHttp: false } as const;
  const figures: { delivered: number; called: number }[] = [];
  try {
    await direct.load(command, warmUpSeconds);
    const perEntity = Math.ceil((seconds * EVENTS_PER_SECOND) / ENTITIES);
    for (let round = 0; round < rounds; round++) {
      const dir = join(module.folder, `consumed-${round}`);
      await withJournal(dir, (journal) => appendToAll(journal, ENTITIES, 0, perEntity));
      figures.push({
        delivered: await deliveredPerSecond(module.file, dir, ENTITIES * perEntity),
        called: await direct.load(command, seconds),
      });
      rmSync(dir, { recursive: true, force: true });
    }
  } finally {
    await direct.close();
    module.remove();
  }
  return [
    {
      letter: 'r',
      what: 'events delivered to a consumer that makes a durable call for each, of 1,000 entities, one shard',
      svc: median(figures.map(({ delivered }) => delivered)),
      beside: 'the same commands called directly, as in (j), one shard',
      other: median(figures.map(({ called }) => called)),
      unit: 'per second',
      ratio: median(figures.map(({ delivered, called }) => delivered / called)),
      cores: `all threads share ${availableParallelism()}`,
    },
  ];
}

/** Serves a journal of so many events, and returns how many of those in the middle are delivered per second. */
async function deliveredPerSecond(file: string, dir: string, events: number): Promise<number> {
  const service = await startSvc(file, dir);
  const scan = new SqliteScan(dir);
  try {
    const endMs = performance.now() + START_MS_MAX + events * EVENT_MS_MAX;
    let first: { readonly atMs: number; readonly count: number } | undefined;
    for (;;) {
      const count = scan.lastPos() - events;
      const atMs = performance.now();
      if (count >= events * EDGE) first ??= { atMs, count };
      if (first !== undefined && count >= events * (1 - EDGE))
        return ((count - first.count) * 1_000) / Math.max(atMs - first.atMs, Number.MIN_VALUE);
      if (atMs > endMs) throw new Error(`${count} of ${events} events were delivered`);
      await pause(POLL_MS);
    }
  } finally {
    scan.close();
    await service.stop();
  }
}
