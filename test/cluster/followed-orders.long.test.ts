// Views, consumers and timers of a service with three nodes follow its events, each event once and in order, while one node is killed
// and another one leaves.
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { OrderLoad } from '../support/cluster-load/order-load.ts';
import { buildOrders, type StoredOrder } from '../support/crash/followed-orders.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { ServedCluster } from '../support/postgres/served-cluster.ts';
import { Random } from '../support/random.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';

const SEED = Number(process.env['SVC_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
/** The orders' slices belong to all nodes, with a chance that leaves no doubt. */
const ORDERS = Array.from({ length: 12 }, (_, index) => `order-${index}`);
/** Placements of an order before the first fault, and between two. */
const BETWEEN = 4;
const SOON = { timeout: 120_000, interval: 200 };
const folder = temporaryFolderOfFile();
const module = join(folder, 'orders.wasm');
let server: PostgresServer;

beforeAll(async () => {
  [server] = await Promise.all([
    PostgresServer.shared('18'),
    buildOrders(join(folder, 'orders', 'index.ts'), module),
  ]);
});

test('each event is consumed once and in order, timers fire once, and rows are complete at every node', async () => {
  const cluster = await ServedCluster.of(server, module, temporaryFolder());
  onTestFinished(() => cluster.close());
  const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((name) => cluster.start(name)));
  await expect.poll(async () => (await cluster.shares()).at(2), SOON).toBeGreaterThan(250);
  const over = new AbortController();
  onTestFinished(() => over.abort());
  const orders = new OrderLoad({
    orders: ORDERS,
    nodes: [a!, b!, c!],
    random: new Random(SEED),
    isOver: over.signal,
  });
  const running = orders.run();
  const placed = async (): Promise<void> => {
    const enough = new Map([...orders.placed].map(([id, number]) => [id, number + BETWEEN]));
    const isEnough = () => ORDERS.every((id) => orders.placed.get(id)! >= enough.get(id)!);
    await Promise.race([vi.waitUntil(isEnough, SOON), running]);
  };

  await placed();
  await b!.svc.end('SIGKILL');
  orders.live = [a!, c!];
  await placed();
  const d = await cluster.start('d');
  orders.live = [a!, c!, d];
  await expect.poll(async () => (await cluster.shares()).at(2), SOON).toBeGreaterThan(250);
  await placed();
  orders.live = [a!, d];
  expect(await c!.svc.end('SIGTERM')).toMatchObject({ code: 0 });
  await placed();
  orders.end();
  await running;
  expect(orders.readElsewhere).toBeGreaterThan(0);

  // The recurring timers tick until they are cancelled.
  const { served } = cluster;
  await expect
    .poll(async () => [...(await orders.stored(served)).values()].map(hasTicked), SOON)
    .not.toContain(false);
  await orders.quiet();
  await expect
    .poll(() => orders.behind(served), SOON)
    .toEqual({ timers: 0, deadlines: 0, events: 0 });
  const counts = await orders.check(served);
  for (const node of [a!, d]) await expect.poll(() => orders.rows(node), SOON).toEqual(counts);
  await served.checkNumbers();
}, 600_000);

function hasTicked({ counts }: StoredOrder): boolean {
  return counts.ticks > 0;
}
