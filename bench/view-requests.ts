// Measurement (s): the 99th percentile of durable POSTs at 60 % of a service's capacity while it builds a view, compared with
// the same once the view is built. Measurements (t), (t2): GET of a page of 50 rows and of a row by its key, compared with a
// query of an entity, as in (a), of the same service.
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { oneCoreForServer } from './cores.ts';
import { appendToAll, withJournal } from './filled-journal.ts';
import type { Loader } from './load.ts';
import { type PacedTimes, pacedTimes } from './paced-client.ts';
import { requestText, sendPipelined } from './pipelined-client.ts';
import { median, type Measurement, type Pace } from './report.ts';
import { type BenchModule, benchModule, type Service, startSvc } from './service.ts';
import { EVENTS_PER_KEY, VIEW_FIXTURE } from './views.ts';

const CONNECTIONS = 64;
const ENTITIES = 1_000;
/** Number of groups in which the module lists its counters. */
const GROUPS = 20;
const CAPACITY_SHARE = 0.6;
/** A building is waited for this long at most, in milliseconds. */
const BUILT_MS_MAX = 300_000;

const ids = Array.from({ length: ENTITIES }, (_, index) => `c${index}`);
const queries = ids.map((id) => `/counters/${id}`);
const posts = queries.map((path) => requestText('POST', path, '{"amount":1}'));

const PAGES = [
  {
    letter: 't',
    what: 'GET on one core: a page of 50 rows of a view by an index',
    paths: Array.from({ length: GROUPS }, (_, group) => `/rows/groups/${group}`),
  },
  {
    letter: 't2',
    what: 'GET on one core: a row of a view by its key',
    paths: ids.map((id) => `/rows/${id}`),
  },
] as const;

export async function measureViewRequests(
  wanted: ReadonlySet<string>,
  pace: Pace,
  loader: Loader,
  events: number,
): Promise<Measurement[]> {
  const module = await benchModule(VIEW_FIXTURE);
  try {
    return [
      ...(wanted.has('s') ? [await measureBeside(module, pace, events)] : []),
      ...(await measurePages(
        PAGES.filter(({ letter }) => wanted.has(letter)),
        module,
        pace,
        loader,
      )),
    ];
  } finally {
    module.remove();
  }
}

async function measureBeside(
  module: BenchModule,
  { seconds, rounds, warmUpSeconds }: Pace,
  events: number,
): Promise<Measurement> {
  const dir = join(module.folder, 'building');
  const keys = Math.ceil(events / EVENTS_PER_KEY);
  await withJournal(dir, (journal) => appendToAll(journal, keys, 0, EVENTS_PER_KEY));
  const figures: { building: PacedTimes; built: PacedTimes }[] = [];
  let perSecond: number | undefined;
  let wasBuilt = false;
  for (let round = 0; round < rounds; round++) {
    // A machine that is busy may answer nothing in the short time of a trial.
    perSecond ??= Math.max(
      1,
      CAPACITY_SHARE * (await capacity(module, dir, Math.max(seconds, warmUpSeconds))),
    );
    rmSync(join(dir, 'views'), { recursive: true, force: true });
    const service = await startSvc(module.file, dir);
    try {
      const load = { port: portOf(service), connections: CONNECTIONS, perSecond, next: anyPost };
      if (warmUpSeconds > 0) await pacedTimes({ ...load, seconds: warmUpSeconds });
      const building = await pacedTimes({ ...load, seconds });
      wasBuilt ||= await isBuilt(service);
      await untilBuilt(service);
      figures.push({ building, built: await pacedTimes({ ...load, seconds }) });
    } finally {
      await service.stop();
    }
  }
  return {
    letter: 's',
    what:
      `p99 of durable POSTs at ${Math.round(perSecond!).toLocaleString('en-US')}/s, 60 % of the capacity, while a view is built of ` +
      `${(keys * EVENTS_PER_KEY).toLocaleString('en-US')} events${wasBuilt ? ' (which ended before the measurement)' : ''}`,
    svc: median(figures.map(({ building }) => building.p99Ms)),
    beside: `the same once the view is built; the load itself was at most ${latenessOf(figures)} ms late`,
    other: median(figures.map(({ built }) => built.p99Ms)),
    unit: 'ms',
    ratio: median(figures.map(({ building, built }) => building.p99Ms / built.p99Ms)),
    cores: `the service and the load share ${availableParallelism()}`,
  };
}

/** Returns how late the client was in its worst round: a percentile that is not far above comes from the load. */
function latenessOf(figures: readonly { building: PacedTimes; built: PacedTimes }[]): number {
  const late = figures.flatMap(({ building, built }) => [building.lateMs, built.lateMs]);
  return Math.ceil(Math.max(...late));
}

/** Returns the durable POSTs per second of a service whose view is built. */
async function capacity(module: BenchModule, dir: string, seconds: number): Promise<number> {
  const service = await startSvc(module.file, dir);
  try {
    await untilBuilt(service);
    // The first half is the warm-up.
    await posted(service, seconds);
    return await posted(service, seconds);
  } finally {
    await service.stop();
  }
}

async function posted(service: Service, seconds: number): Promise<number> {
  const startedMs = performance.now();
  const endMs = startedMs + seconds * 1_000;
  const count = await sendPipelined({
    port: portOf(service),
    connections: CONNECTIONS,
    depth: 1,
    next: () => (performance.now() < endMs ? anyPost() : undefined),
  });
  return (count * 1_000) / (performance.now() - startedMs);
}

function anyPost(): string {
  return posts[Math.floor(Math.random() * ENTITIES)]!;
}

function portOf({ url }: Service): number {
  return Number(new URL(url).port);
}

async function isBuilt({ url }: Service): Promise<boolean> {
  const { status } = await fetch(`${url}/rows/c0`);
  if (status !== 200 && status !== 503) throw new Error(`${url}/rows/c0: ${status}`);
  return status === 200;
}

async function untilBuilt(service: Service): Promise<void> {
  const endMs = performance.now() + BUILT_MS_MAX;
  while (!(await isBuilt(service))) {
    if (performance.now() > endMs) throw new Error('the view is not built');
    await pause(20);
  }
}

async function measurePages(
  scenarios: readonly (typeof PAGES)[number][],
  module: BenchModule,
  { seconds, rounds, warmUpSeconds }: Pace,
  loader: Loader,
): Promise<Measurement[]> {
  if (scenarios.length === 0) return [];
  const dir = join(module.folder, 'pages');
  await withJournal(dir, (journal) => appendToAll(journal, ENTITIES, 0, 1));
  const placement = oneCoreForServer();
  const { server, load: processors } =
    placement.kind === 'pinned' ? placement : { server: undefined, load: undefined };
  const service = await startSvc(module.file, dir, server);
  try {
    await untilBuilt(service);
    const load = (paths: readonly string[], forSeconds: number) =>
      loader.run({
        url: service.url,
        method: 'GET',
        paths,
        body: undefined,
        connections: CONNECTIONS,
        seconds: forSeconds,
        processors,
      });
    if (warmUpSeconds > 0) await load(queries, warmUpSeconds);
    const measurements: Measurement[] = [];
    for (const { letter, what, paths } of scenarios) {
      if (warmUpSeconds > 0) await load(paths, warmUpSeconds);
      const figures: { rows: number; query: number }[] = [];
      for (let round = 0; round < rounds; round++)
        figures.push({ rows: await load(paths, seconds), query: await load(queries, seconds) });
      measurements.push({
        letter,
        what: `${what}, ${CONNECTIONS} connections`,
        svc: median(figures.map(({ rows }) => rows)),
        beside: 'the same service: query of an entity, as in (a)',
        other: median(figures.map(({ query }) => query)),
        unit: 'per second',
        ratio: median(figures.map(({ rows, query }) => rows / query)),
        cores:
          placement.kind === 'pinned'
            ? 'one, the load on another'
            : `not pinned (${placement.reason})`,
      });
    }
    return measurements;
  } finally {
    await service.stop();
  }
}
