// Measurement (ef): queries of entities that the other one of two nodes owns, beside queries of entities of the node that is asked.
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SLICE_COUNT, sliceOf } from '@svc/model/slice';
import type { FreshDatabase } from '../../test/support/postgres/fresh-database.ts';
import type { PostgresServer } from '../../test/support/postgres/postgres-server.ts';
import { requestText, sendPipelined } from '../pipelined-client.ts';
import { processorUs } from '../processor-time.ts';
import { median, type Measurement, type Pace } from '../report.ts';
import { benchModule, type Service, startSvc } from '../service.ts';

const CONNECTIONS = 8;
const DEPTH = 8;
const ENTITIES = 1_000;
/** Nodes that start share the slices within some seconds. */
const SHARED_WITHIN_MS = 30_000;
const LOOK_MS = 100;
/** Most slices of one of two nodes, once they share them. */
const SLICES_EACH_MAX = 0.54 * SLICE_COUNT;

interface Cost {
  readonly perSecond: number;
  /** Processor time of both nodes for a query, in microseconds. */
  readonly usedUs: number;
}

/** Asks for entities in turn, for some seconds. */
type Query = (seconds: number) => Promise<Cost>;

export async function measureNodeQueries(server: PostgresServer, pace: Pace): Promise<Measurement> {
  const database = await server.freshDatabase();
  const { source } = database;
  assert(source.kind === 'file');
  const settings = {
    'svc.database.url-file': source.path,
    'svc.remoting.host': '127.0.0.1',
    'svc.remoting.port': '0',
  };
  const module = await benchModule();
  const nodes: Service[] = [];
  try {
    for (const folder of ['first', 'second'])
      // oxlint-disable-next-line no-await-in-loop -- the node that is asked has the lower number
      nodes.push(await startSvc(module.file, join(module.folder, folder), undefined, settings));
    const { own, others } = await sharedEntities(database);
    const queryOf = (ids: readonly string[]): Query => {
      const requests = ids.map((id) => requestText('GET', `/counters/${id}`));
      return (seconds) => query(nodes, requests, seconds);
    };
    return await compared(queryOf(others), queryOf(own), pace);
  } finally {
    await Promise.all(nodes.map((node) => node.stop()));
    module.remove();
  }
}

async function compared(
  forwarded: Query,
  local: Query,
  { seconds, rounds, warmUpSeconds }: Pace,
): Promise<Measurement> {
  await forwarded(warmUpSeconds);
  await local(warmUpSeconds);
  const figures: { readonly forwarded: Cost; readonly local: Cost }[] = [];
  for (let round = 0; round < rounds; round++)
    figures.push({ forwarded: await forwarded(seconds), local: await local(seconds) });
  const byProcessor = median(figures.map((one) => one.local.usedUs / one.forwarded.usedUs));
  return {
    letter: 'ef',
    what: `queries of entities of the other one of two nodes, ${CONNECTIONS * DEPTH} in flight`,
    beside: `entities of the node that is asked; by processor time of both nodes the ratio is ${byProcessor.toFixed(2)}, the aim is 0.5`,
    svc: median(figures.map((one) => one.forwarded.perSecond)),
    other: median(figures.map((one) => one.local.perSecond)),
    unit: 'per second',
    ratio: median(figures.map((one) => one.forwarded.perSecond / one.local.perSecond)),
    cores: `the load and both nodes share ${availableParallelism()}`,
  };
}

async function query(
  nodes: readonly Service[],
  requests: readonly string[],
  seconds: number,
): Promise<Cost> {
  const usedUs = () => nodes.reduce((sum, { pid }) => sum + processorUs(pid), 0);
  const beforeUs = usedUs();
  const startedMs = performance.now();
  const untilMs = startedMs + seconds * 1_000;
  let turn = 0;
  const count = await sendPipelined({
    port: Number(new URL(nodes[0]!.url).port),
    connections: CONNECTIONS,
    depth: DEPTH,
    // Each entity is asked at least once, so that it is in memory.
    next: () =>
      turn < requests.length || performance.now() < untilMs
        ? requests[turn++ % requests.length]
        : undefined,
  });
  const perSecond = (count * 1_000) / (performance.now() - startedMs);
  return { perSecond, usedUs: (usedUs() - beforeUs) / count };
}

/** Returns ids of entities of the node that has joined first, and of the other one, once they share the slices evenly. */
async function sharedEntities(
  database: FreshDatabase,
): Promise<{ readonly own: readonly string[]; readonly others: readonly string[] }> {
  const ids = Array.from({ length: ENTITIES }, (_, index) => `c${index}`);
  const endMs = performance.now() + SHARED_WITHIN_MS;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- a look follows the other
    const rows = await database.sql(
      'SELECT owner = (SELECT min(number) FROM svc.node) AS is_first FROM svc.slice ORDER BY slice',
    );
    const first = rows.filter((row) => row['is_first'] === true).length;
    const isFirst = (id: string): boolean => rows[sliceOf('counter', id)]!['is_first'] === true;
    const own = ids.filter(isFirst);
    const others = ids.filter((id) => !isFirst(id));
    if (first <= SLICES_EACH_MAX && first >= SLICE_COUNT - SLICES_EACH_MAX) return { own, others };
    if (performance.now() > endMs) throw new Error('the nodes do not share their entities');
    // oxlint-disable-next-line no-await-in-loop -- a look follows the other
    await pause(LOOK_MS);
  }
}
