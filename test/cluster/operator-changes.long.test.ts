// What operators change of a service with several nodes: the command line changes the database, and any node takes the request.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { EVENT_PARKED, EVENT_SKIPPED } from '../../host/consumers/consumer-log.ts';
import { sendControl } from '../../kit/control-client.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { runCommand } from '../support/command-line.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { ServedCluster } from '../support/postgres/served-cluster.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { viewModule } from '../support/view-module.ts';

const SOON = { timeout: 60_000, interval: 100 };
const folder = temporaryFolderOfFile();
const module = join(folder, 'bookkeeping.wasm');
const counters = join(folder, 'counters.wasm');
const ORDERS = ['o1', 'o2', 'o3', 'o4', 'o5', 'o6', 'o7', 'o8'];
let server: PostgresServer;

beforeAll(async () => {
  const [started, component] = await Promise.all([
    PostgresServer.shared('18'),
    compileFixture('order-bookkeeping'),
  ]);
  server = started;
  writeFileSync(module, component);
  writeFileSync(counters, await viewModule());
});

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0);
}

/** Starts two nodes of a service, and resolves once each has its share. Returns also how the command line names their database. */
async function twoNodes(file: string) {
  const cluster = await ServedCluster.of(server, file, temporaryFolder());
  onTestFinished(() => cluster.close());
  const nodes = [await cluster.start('first'), await cluster.start('second')];
  await expect.poll(async () => (await cluster.shares()).at(-1), SOON).toBeGreaterThan(400);
  const { source } = cluster.served.database;
  return { cluster, nodes, here: source.kind === 'file' ? `url-file:${source.path}` : '' };
}

test('parked events are retried and skipped whichever node delivers them, and asked at any node', async () => {
  const { cluster, nodes, here } = await twoNodes(module);
  const parked = async () => {
    const list = ['consumers', here, 'bookkeeping', '--state', 'parked', '-o', 'json'];
    const { stdout } = await runCommand(list);
    const { lanes } = JSON.parse(stdout) as { lanes: { entity: { id: string } }[] };
    return lanes.map(({ entity }) => entity.id).toSorted();
  };
  const logged = (message: string) =>
    nodes.map(({ svc }) => svc.stderr.split(`"message":"${message}"`).length - 1);
  for (const id of ORDERS)
    for (const method of ['PUT', 'DELETE'])
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await fetch(`${nodes[0]!.url}/orders/${id}`, { method })).ok).toBe(true);
  await expect.poll(parked, SOON).toEqual(ORDERS);
  await expect.poll(() => sum(logged(EVENT_PARKED)), SOON).toBe(ORDERS.length);
  // Each node has parked some of them.
  expect(Math.min(...logged(EVENT_PARKED))).toBeGreaterThan(0);

  // They are delivered again, and refused again.
  expect(await runCommand(['consumers', 'retry', here, 'bookkeeping', '--all'])).toMatchObject({
    code: 0,
  });
  await expect.poll(() => sum(logged(EVENT_PARKED)), SOON).toBe(2 * ORDERS.length);
  await expect.poll(parked, SOON).toEqual(ORDERS);

  const [byCommand, byNode] = [ORDERS.slice(0, 4), ORDERS.slice(4)];
  for (const id of byCommand) {
    const skip = ['consumers', 'skip', here, 'bookkeeping', `order/${id}`, '2'];
    // oxlint-disable-next-line no-await-in-loop -- commands run one at a time
    expect(await runCommand([...skip, '--reason', 'by hand'])).toMatchObject({ code: 0 });
  }
  const rows = await cluster.served.database.sql('SELECT control FROM svc.node ORDER BY number');
  for (const id of byNode) {
    const entity = { component: 'order', id };
    const skip = { consumer: 'bookkeeping', entity, seq: 2, reason: 'by hand' };
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const answer = await sendControl(rows[0]!['control'] as string, '/consumers/skip', skip);
    expect(answer).toMatchObject({ status: 200, body: expect.stringContaining('true') });
  }
  const stored = 'SELECT count(*)::int AS lanes FROM svc.lane';
  await expect.poll(() => cluster.served.database.sql(stored), SOON).toEqual([{ lanes: 0 }]);
  await expect.poll(() => sum(logged(EVENT_SKIPPED)), SOON).toBe(ORDERS.length);
  expect(Math.min(...logged(EVENT_SKIPPED))).toBeGreaterThan(0);
}, 180_000);

test('a view that has stopped at all nodes continues at all of them once one has skipped the event', async () => {
  const { cluster, nodes, here } = await twoNodes(counters);
  const stopped = () =>
    Promise.all(
      nodes.map(async (node) =>
        (await cluster.metrics(node)).get('svc_view_stopped{view="counters"}'),
      ),
    );
  const counted = () =>
    Promise.all(
      nodes.map(async ({ url }) => {
        const answer = await fetch(`${url}/counters/2`);
        return [answer.status, await answer.text()];
      }),
    );
  const count = (id: string) => fetch(`${nodes[0]!.url}/counters/1/${id}`);
  await count('1');
  // The fold fails for ids of three characters.
  await count('bad');
  // A node that takes the view over folds what is stored meanwhile, until it meets the event. That wakes no node that has stopped there.
  for (let written = 0; written < 200; written++)
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await count(`more-${written}`);
  await expect.poll(stopped, SOON).toEqual([1, 1]);
  const skip = ['views', 'skip', here, 'counters', 'counter/bad', '1', '--reason', 'by hand'];
  expect(await runCommand(skip)).toMatchObject({ code: 0 });
  await expect.poll(stopped, SOON).toEqual([0, 0]);
  await count('22');
  await expect.poll(counted, SOON).toEqual([
    [200, '202'],
    [200, '202'],
  ]);
  // Each node has stopped at the event once.
  for (const { svc } of nodes)
    expect(svc.stderr.split('the view has stopped at an event')).toHaveLength(2);
}, 180_000);

test('the rows of a view are built again by the node that is asked, whichever node has written them', async () => {
  const { cluster, nodes } = await twoNodes(counters);
  for (let written = 0; written < 20; written++)
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await fetch(`${nodes[0]!.url}/counters/1/entity-${written}`);
  const { database } = cluster.served;
  const live = async () => {
    const text = 'SELECT number::int, is_live AND row_count > 0 AS live FROM svc.view_definition';
    const [found] = await database.sql(text);
    return found!['live'] === true ? (found!['number'] as number) : 0;
  };
  await expect.poll(live, SOON).toBeGreaterThan(0);
  const rebuilt = () =>
    nodes.map(({ svc }) => svc.stderr.split('the rows of the view are built again').length - 1);
  const sockets = await database.sql('SELECT control FROM svc.node ORDER BY number');
  const expected = [0, 0];
  // The second and the third time the node that is asked does not write the rows.
  for (const asked of [0, 1, 0]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const before = await live();
    const socket = sockets[asked]!['control'] as string;
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect(await sendControl(socket, '/views/rebuild', { view: 'counters' })).toMatchObject({
      status: 200,
    });
    expected[asked]! += 1;
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await expect.poll(live, SOON).toBeGreaterThan(before);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await expect.poll(rebuilt, SOON).toEqual(expected);
  }
  // Both nodes answer from the rows that were built last, also with what is stored from now on.
  await fetch(`${nodes[0]!.url}/counters/1/last`);
  const counted = () =>
    Promise.all(nodes.map(async ({ url }) => (await fetch(`${url}/counters/2`)).text()));
  await expect.poll(counted, SOON).toEqual(['21', '21']);
}, 180_000);
