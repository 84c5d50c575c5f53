// A service with several nodes, as its callers and its operator see it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, test, type TestContext } from 'vitest';
import { ClusterLoad } from '../support/cluster-load/cluster-load.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { ServedCluster } from '../support/postgres/served-cluster.ts';
import { temporaryFoldersOfFile } from '../support/temporary-folder.ts';

const SEED = Number(process.env['SVC_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
const SOON = { timeout: 30_000, interval: 50 };
const newFolder = temporaryFoldersOfFile();
const module = join(newFolder(), 'objects.wasm');
let server: PostgresServer;

beforeAll(async () => {
  const [started, component] = await Promise.all([
    PostgresServer.shared('18'),
    compileFixture('concurrent-objects'),
  ]);
  server = started;
  writeFileSync(module, component);
});

/** Makes a cluster for a test: the tests wait for nodes to start and for leases to end, and run at the same time. */
async function newCluster({ onTestFinished }: TestContext): Promise<ServedCluster> {
  const cluster = await ServedCluster.of(server, module, newFolder());
  onTestFinished(() => cluster.close());
  return cluster;
}

test.concurrent('nodes share the entities, answer for one another, and leave without a failed request', async (context) => {
  const { expect, onTestFinished } = context;
  const cluster = await newCluster(context);
  const first = await cluster.start('first');
  expect(await cluster.shares()).toEqual([1_024]);
  const load = new ClusterLoad({
    nodes: { first: first.url },
    seed: SEED,
    requestsMax: 100_000,
    callers: 4,
  });
  onTestFinished(() => load.close());
  await load.answered(50);

  // A node that joins gets its share.
  const second = await cluster.start('second');
  await expect.poll(async () => (await cluster.shares()).length, SOON).toBe(2);
  await expect.poll(async () => (await cluster.shares()).at(-1), SOON).toBeGreaterThan(400);
  load.setUrl('second', second.url);
  await load.answered(200);
  for (const node of [first, second]) {
    const members = await cluster.members(node);
    expect(members.map(({ status }) => status)).toEqual(['Up', 'Up']);
    expect((await fetch(`${node.management}/ready`)).status).toBe(200);
    const metrics = await cluster.metrics(node);
    expect(metrics.get('svc_cluster_nodes{status="Up"}')).toBe(2);
    expect(metrics.get('svc_cluster_lease_left_seconds')).toBeGreaterThan(0);
    expect(metrics.get('svc_cluster_slices')).toBeGreaterThan(400);
    for (const kind of ['sent', 'served'])
      expect(metrics.get(`svc_cluster_calls_total{kind="${kind}"}`)).toBeGreaterThan(0);
  }
  const [ofFirst, ofSecond] = [await cluster.metrics(first), await cluster.metrics(second)];
  const moved = ofSecond.get('svc_cluster_slices_acquired_total{from="node"}')!;
  expect(moved).toBeGreaterThan(400);
  expect(ofFirst.get('svc_cluster_slices_acquired_total{from="free"}')).toBe(1_024);
  expect(ofFirst.get('svc_cluster_slices_handed_over_total')).toBe(moved);
  expect(ofFirst.get('svc_cluster_hand_over_seconds_count')).toBeGreaterThan(1);

  // A node that leaves hands its share over. Callers go to the other one before, as a gateway lets them.
  load.setUrl('first', second.url);
  expect(await first.svc.end('SIGTERM')).toMatchObject({ code: 0 });
  expect(await cluster.shares()).toEqual([1_024]);
  await expect
    .poll(async () => (await cluster.members(second)).map(({ status }) => status), SOON)
    .toEqual(['Up']);
  await load.answered(50);
  await load.end();
  expect(load.problems(), `seed ${SEED}`).toEqual([]);
  expect(
    [...load.counts.keys()].filter((status) => status.startsWith('5')),
    `seed ${SEED}`,
  ).toEqual([]);
}, 180_000);

test.concurrent('the entities of a node that was killed answer at another one once its lease has ended', async (context) => {
  const { expect, onTestFinished } = context;
  const cluster = await newCluster(context);
  const [first, second] = [await cluster.start('first'), await cluster.start('second')];
  await expect.poll(async () => (await cluster.shares()).at(-1), SOON).toBeGreaterThan(400);
  const load = new ClusterLoad({
    nodes: { first: first.url, second: second.url },
    seed: SEED,
    requestsMax: 100_000,
    callers: 4,
  });
  onTestFinished(() => load.close());
  await load.answered(200);
  load.setUrl('first', second.url);
  await first.svc.end('SIGKILL');
  await expect.poll(() => cluster.shares(), SOON).toEqual([1_024]);
  await load.answered(100);
  await load.end();
  expect(load.problems(), `seed ${SEED}`).toEqual([]);
  expect(
    (await cluster.metrics(second)).get('svc_cluster_slices_acquired_total{from="ended"}'),
  ).toBeGreaterThan(400);
  await expect
    .poll(async () => (await cluster.members(second)).map(({ status }) => status), SOON)
    .toEqual(['Up']);
}, 180_000);

test.concurrent('a node with a module that the running one does not understand does not join', async (context) => {
  const { expect, onTestFinished } = context;
  const cluster = await newCluster(context);
  await cluster.start('first');
  const other = join(newFolder(), 'counter.wasm');
  writeFileSync(other, await compileFixture('counter'));
  const svc = cluster.served.start({ module: other });
  onTestFinished(async () => void (await svc.end('SIGKILL')));
  const { code, stderr } = await svc.ended;
  expect([code, stderr]).toEqual([1, expect.stringContaining('SVC_UPGRADE_UNSAFE')]);
});
