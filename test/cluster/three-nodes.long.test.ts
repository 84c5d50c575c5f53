// The history of a service with three nodes is linearizable while nodes are killed, stopped, restarted, or cut off from the database or
// from one another, and while the database is killed.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { ClusterLoad } from '../support/cluster-load/cluster-load.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { ServedCluster, type ServedNode } from '../support/postgres/served-cluster.ts';
import { Random } from '../support/random.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';

const SEED = Number(process.env['SVC_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
const SOON = { timeout: 120_000, interval: 100 };
/** Ends a load whose faults never end. */
const REQUESTS_MAX = 100_000;
/** Requests that are answered between two faults. */
const BETWEEN = 100;
/** A fair share of three nodes is 341 slices. */
const SHARE_MIN = 250;
const module = join(temporaryFolderOfFile(), 'objects.wasm');
let server: PostgresServer;
let cluster: ServedCluster;
let nodes: ServedNode[];
let load: ClusterLoad;
let random: Random;
let started = 0;

beforeAll(async () => {
  writeFileSync(module, await compileFixture('concurrent-objects'));
  server = await PostgresServer.start('18');
});
afterAll(() => server.stop());

beforeEach(async () => {
  random = new Random(SEED);
  cluster = await ServedCluster.of(server, module, temporaryFolder());
  onTestFinished(() => cluster.close());
  nodes = await Promise.all(['a', 'b', 'c'].map((name) => cluster.start(name)));
  await shared();
});

/** Starts the load. `timeoutMs`: callers of a node that hangs turn to another one then. */
async function begin(timeoutMs = 30_000): Promise<void> {
  load = new ClusterLoad({
    nodes: Object.fromEntries(nodes.map(({ name, url }) => [name, url])),
    seed: SEED,
    requestsMax: REQUESTS_MAX,
    callers: 12,
    timeoutMs,
  });
  onTestFinished(() => load.close());
  await load.answered(BETWEEN);
}

/** Resolves once each of the three nodes has its share, and says that it is ready. */
async function shared(): Promise<void> {
  const ready = [200, 200, 200];
  await expect.poll(stateOfThree, SOON).toEqual({ members: 3, slices: 1_024, isFair: true, ready });
}

async function stateOfThree() {
  const shares = await cluster.shares();
  return {
    members: shares.length,
    slices: sum(shares),
    isFair: shares.every((share) => share >= SHARE_MIN),
    ready: await Promise.all(nodes.map((node) => statusOf(node, '/ready'))),
  };
}

/** Resolves once two nodes own all slices. */
async function takenOver(): Promise<void> {
  await expect.poll(stateOfTwo, SOON).toEqual({ members: 2, slices: 1_024 });
}

async function stateOfTwo() {
  const shares = await cluster.shares();
  return { members: shares.length, slices: sum(shares) };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0);
}

async function statusOf({ management }: ServedNode, path: string): Promise<number> {
  return (await fetch(management + path)).status;
}

/** Draws a node, with its index. */
function drawn(): readonly [index: number, node: ServedNode] {
  const index = random.below(nodes.length);
  return [index, nodes[index]!];
}

/** Starts a node that takes the callers and the name of another one. */
async function replace(index: number): Promise<void> {
  const { name } = nodes[index]!;
  nodes[index] = await cluster.start(`${name}-${++started}`);
  load.setUrl(name, nodes[index].url);
  nodes[index] = { ...nodes[index], name };
}

/** Resolves once so many further requests have got a status. */
async function seen(status: string, count: number): Promise<void> {
  const enough = (load.counts.get(status) ?? 0) + count;
  await expect.poll(() => load.counts.get(status) ?? 0, SOON).toBeGreaterThanOrEqual(enough);
}

/** Ends the load after some further requests. Returns what its history violates. */
async function problems(): Promise<readonly string[]> {
  await load.answered(BETWEEN);
  await load.end();
  await cluster.served.checkNumbers();
  expect(nodes.map(({ svc }) => svc.child.exitCode)).toEqual([null, null, null]);
  return load.problems();
}

test('nodes are killed, and others are started for them', async () => {
  await begin();
  for (let kill = 0; kill < 2; kill++) {
    const [index, { svc }] = drawn();
    await svc.end('SIGKILL');
    await takenOver();
    await load.answered(BETWEEN);
    await replace(index);
    await shared();
  }
  expect(await problems(), `seed ${SEED}`).toEqual([]);
}, 600_000);

test('a node that was stopped for longer than its lease answers nothing stale, and joins again by itself', async () => {
  await begin(5_000);
  const [, node] = drawn();
  const number = await cluster.numberOf(node);
  node.svc.child.kill('SIGSTOP');
  await takenOver();
  // Requests wait at the stopped node, while others change the entities that it has owned.
  await load.answered(BETWEEN);
  node.svc.child.kill('SIGCONT');
  await shared();
  expect(await cluster.numberOf(node)).toBeGreaterThan(number!);
  expect(await problems(), `seed ${SEED}`).toEqual([]);
}, 600_000);

test.each([
  { name: 'whose connections are refused', cut: 'refuse', heal: 'accept' },
  { name: 'that gets no answer', cut: 'holdAnswers', heal: 'letAnswersThrough' },
  { name: 'that can send nothing', cut: 'holdRequests', heal: 'letRequestsThrough' },
] as const)(
  'a node $name stays alive without the database, and joins again',
  async (fault) => {
    await begin();
    const [, node] = drawn();
    const number = await cluster.numberOf(node);
    node.database[fault.cut]();
    await takenOver();
    await expect.poll(() => statusOf(node, '/ready'), SOON).toBe(503);
    expect(await statusOf(node, '/alive')).toBe(200);
    await load.answered(BETWEEN);
    node.database[fault.heal]();
    await shared();
    expect(await cluster.numberOf(node)).toBeGreaterThan(number!);
    expect(await problems(), `seed ${SEED}`).toEqual([]);
  },
  600_000,
);

test('connections between nodes are reset, refused, and let nothing through', async () => {
  await begin(5_000);
  for (let cut = 0; cut < 5; cut++) {
    await load.answered(BETWEEN);
    for (const { remoting } of nodes) remoting.reset();
  }
  await load.answered(BETWEEN);
  const [, { remoting: refusing }] = drawn();
  refusing.refuse();
  await seen('503', 10);
  refusing.accept();
  await load.answered(BETWEEN);
  for (const [hold, release] of [
    ['holdRequests', 'letRequestsThrough'],
    ['holdAnswers', 'letAnswersThrough'],
  ] as const) {
    const [, { remoting }] = drawn();
    const failed = load.failedCount;
    remoting[hold]();
    await expect.poll(() => load.failedCount, SOON).toBeGreaterThan(failed + 10);
    remoting[release]();
    await load.answered(BETWEEN);
  }
  // Nobody loses its membership because of others.
  await shared();
  expect(await problems(), `seed ${SEED}`).toEqual([]);
}, 600_000);

test('nodes are restarted one after the other, and no request fails that goes to the others', async () => {
  await begin();
  for (const [index, { name, svc }] of nodes.entries()) {
    await load.answered(BETWEEN);
    load.setUrl(name, nodes[(index + 1) % nodes.length]!.url);
    expect(await svc.end('SIGTERM')).toMatchObject({ code: 0 });
    await takenOver();
    await replace(index);
    await shared();
  }
  expect(load.failures, `seed ${SEED}`).toEqual([]);
  expect(await problems(), `seed ${SEED}`).toEqual([]);
}, 600_000);

test('the database is killed and shut down under all nodes', async () => {
  await begin();
  for (const end of ['kill', 'immediate', 'fast'] as const) {
    await load.answered(BETWEEN);
    await (end === 'kill' ? server.kill() : server.shutDown(end));
    await seen('503', 30);
    for (const node of nodes) expect(await statusOf(node, '/alive')).toBe(200);
    await server.restart();
    await shared();
  }
  expect(await problems(), `seed ${SEED}`).toEqual([]);
}, 600_000);
