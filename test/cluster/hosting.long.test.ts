// A service with three nodes on one database keeps what the callers of every hosting see: each request goes to another node.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { ServedCluster, type ServedNode } from '../support/postgres/served-cluster.ts';
import { temporaryFoldersOfFile } from '../support/temporary-folder.ts';
import {
  cartServiceSuite,
  consumerServiceSuite,
  EVENT_BYTES_MAX,
  type ServiceUnderTest,
  SNAPSHOT_EVENTS,
  timerServiceSuite,
  type TimerUnderTest,
  viewServiceSuite,
} from '../suites/hosting-service-suite.ts';

const NODES = ['a', 'b', 'c'];
const SHARED = { timeout: 60_000, interval: 50 };
const SETTINGS = [
  `svc.engine.event-bytes-max=${EVENT_BYTES_MAX}`,
  `svc.engine.snapshot-interval-events=${SNAPSHOT_EVENTS}`,
];
const SNAPSHOTS = 'SELECT FROM svc.snapshot WHERE component = $1 AND id = $2';
const TIMERS = `SELECT name, command, input, (due_ms - set_ms)::float8 AS "afterMs", schedule FROM svc.timer
  WHERE owner_component = $1 AND owner_id = $2 ORDER BY name`;
const newFolder = temporaryFoldersOfFile();

type Suite = (hosting: string, service: () => ServiceUnderTest) => void;

describe.each<[fixture: string, suite: Suite]>([
  ['shopping-cart', cartServiceSuite],
  ['expiring-order', timerServiceSuite],
  ['customer-orders', viewServiceSuite],
  ['order-bookkeeping', consumerServiceSuite],
])('three nodes with %s', (fixture, suite) => {
  let cluster: ServedCluster;
  let nodes: readonly ServedNode[];
  let service: ServiceUnderTest;

  beforeAll(async () => {
    const folder = newFolder();
    const module = join(folder, `${fixture}.wasm`);
    writeFileSync(module, await compileFixture(fixture));
    cluster = await ServedCluster.of(await PostgresServer.shared('18'), module, folder);
    nodes = await Promise.all(NODES.map((name) => cluster.start(name, SETTINGS)));
    await vi.waitUntil(async () => ((await cluster.shares()).at(2) ?? 0) > 250, SHARED);
    service = serviceOf(cluster, nodes);
  });
  afterAll(() => cluster.close());

  suite('three nodes', () => service);

  test('nodes have answered for each other', async () => {
    const left = nodes.filter(({ svc }) => svc.child.exitCode === null);
    const metrics = await Promise.all(left.map((node) => cluster.metrics(node)));
    const served = metrics.map((of) => of.get('svc_cluster_calls_total{kind="served"}')!);
    expect(Math.max(...served)).toBeGreaterThan(0);
  });
});

function serviceOf(cluster: ServedCluster, all: readonly ServedNode[]): ServiceUnderTest {
  const { database } = cluster.served;
  let nodes = all;
  let requests = 0;
  return {
    get nodes() {
      return nodes.length;
    },
    request: (method, path, body, headers = {}) =>
      fetch(nodes[requests++ % nodes.length]!.url + path, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    records: (entity) => cluster.served.records(entity),
    hasSnapshot: async ({ component, id }) =>
      (await database.sql(SNAPSHOTS, [component, id])).length > 0,
    gather: async () => {
      const [first, ...others] = nodes;
      nodes = [first!];
      await Promise.all(others.map(({ svc }) => svc.end('SIGTERM')));
    },
    timers: async ({ component, id }) =>
      (await database.sql(TIMERS, [component, id])) as readonly TimerUnderTest[],
  };
}
