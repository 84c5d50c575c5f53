// Views, consumers and timers of a service with three nodes follow its events, each event once and in order, while one node is killed
// and another one leaves.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import {
  buildOrders,
  isDoomed,
  storedOrder,
  type OrderCounts,
  type StoredOrder,
} from '../support/crash/followed-orders.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { ServedCluster, type ServedNode } from '../support/postgres/served-cluster.ts';
import { Random } from '../support/random.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';

const SEED = Number(process.env['SVC_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
/** The orders' slices belong to all nodes, with a chance that leaves no doubt. */
const ORDERS = Array.from({ length: 12 }, (_, index) => `order-${index}`);
/** Placements of an order before the first fault, and between two. */
const BETWEEN = 4;
const DELAY_MS_MAX = 2_000;
const DELAY_STEP_MS = 470;
const PAUSE_MS = 50;
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

/** Places orders at the nodes that callers are sent to, and reads at other ones what was placed. Gives up after a while. */
class Orders {
  /** The nodes that requests are sent to. */
  live: readonly ServedNode[];
  /** Placements of each order that were answered. */
  readonly placed = new Map<string, number>(ORDERS.map((id) => [id, 0]));
  /** Reads of rows that were answered by another node than the one that placed the order. */
  readElsewhere = 0;
  readonly #random: Random;
  readonly #isOver: AbortSignal;
  #isEnding = false;

  constructor(live: readonly ServedNode[], random: Random, isOver: AbortSignal) {
    this.live = live;
    this.#random = random;
    this.#isOver = isOver;
  }

  /** Places orders until `end` is called. Rejects if an answer is wrong. */
  async run(): Promise<void> {
    await Promise.all(ORDERS.map((id) => this.#caller(id)));
  }

  end(): void {
    this.#isEnding = true;
  }

  async quiet(id: string): Promise<void> {
    await this.#answer(({ url }) => fetch(`${url}/orders/${id}/quiet`, { method: 'POST' }), 204);
  }

  /** The rows of a node. */
  async rows(node: ServedNode): Promise<ReadonlyMap<string, OrderCounts>> {
    const { response } = await this.#answer(({ url }) => fetch(`${url}/orders/rows`), 200, node);
    return rowsIn(await response.text());
  }

  async #caller(id: string): Promise<void> {
    for (let number = 1; !this.#isEnding; number++) {
      // oxlint-disable-next-line no-await-in-loop -- a caller sends one request at a time
      const { node, position } = await this.#place(id, number);
      this.placed.set(id, number);
      // oxlint-disable-next-line no-await-in-loop -- a caller sends one request at a time
      const read = await this.#answer(
        ({ url }) => fetch(`${url}/orders/rows`, { headers: { 'svc-after': position } }),
        200,
      );
      // oxlint-disable-next-line no-await-in-loop -- a caller sends one request at a time
      const row = rowsIn(await read.response.text()).get(id);
      if (row?.placed !== number)
        throw new Error(
          `${read.node.name} has ${JSON.stringify(row)} after the placement ${number} of ${id}`,
        );
      if (read.node !== node) this.readElsewhere++;
      // oxlint-disable-next-line no-await-in-loop -- a caller sends one request at a time
      await pause(PAUSE_MS);
    }
  }

  /** Places an order with a key, so that it may be repeated. */
  async #place(id: string, number: number): Promise<{ node: ServedNode; position: string }> {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': `${id}-${number}` },
      body: JSON.stringify({
        number,
        // A repetition has the same one.
        delayMs: (number * DELAY_STEP_MS) % DELAY_MS_MAX,
        isDoomed: isDoomed(number),
      }),
    };
    const { node, response } = await this.#answer(
      ({ url }) => fetch(`${url}/orders/${id}`, init),
      204,
    );
    return { node, position: response.headers.get('svc-position')! };
  }

  /** Asks the live nodes, or one of them, until one answers. Rejects if it answers with anything but `status`, 503 or 504. */
  async #answer(
    ask: (node: ServedNode) => Promise<Response>,
    status: number,
    only?: ServedNode,
  ): Promise<{ readonly node: ServedNode; readonly response: Response }> {
    let last: unknown;
    while (!this.#isOver.aborted) {
      const node = only ?? this.#random.pick(this.live);
      try {
        // oxlint-disable-next-line no-await-in-loop -- an attempt follows the other
        const response = await ask(node);
        if (response.status === status) return { node, response };
        // oxlint-disable-next-line no-await-in-loop -- an attempt follows the other
        last = `${response.status} of ${node.name}: ${await response.text()}`;
        if (response.status !== 503 && response.status !== 504) break;
      } catch (error) {
        // The node was killed.
        last = error;
      }
      // oxlint-disable-next-line no-await-in-loop -- an attempt follows the other
      await pause(PAUSE_MS);
    }
    throw new Error(`the last attempt has failed: ${String(last)}`, { cause: last });
  }
}

function rowsIn(text: string): ReadonlyMap<string, OrderCounts> {
  const { rows } = JSON.parse(text) as { rows: ({ id: string } & OrderCounts)[] };
  return new Map(rows.map(({ id, ...counts }) => [id, counts]));
}

async function storedOrders(cluster: ServedCluster): Promise<ReadonlyMap<string, StoredOrder>> {
  const orders = new Map<string, StoredOrder>();
  for (const id of ORDERS) {
    // The mirror first: it notes events while the order is read.
    const mirror = await cluster.served.records({ component: 'mirror', id });
    const order = await cluster.served.records({ component: 'order', id });
    orders.set(id, storedOrder(id, order, mirror));
  }
  return orders;
}

test('each event is consumed once and in order, timers fire once, and rows are complete at every node', async () => {
  const cluster = await ServedCluster.of(server, module, temporaryFolder());
  onTestFinished(() => cluster.close());
  const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((name) => cluster.start(name)));
  await expect.poll(async () => (await cluster.shares()).at(2), SOON).toBeGreaterThan(250);
  const over = new AbortController();
  onTestFinished(() => over.abort());
  const orders = new Orders([a!, b!, c!], new Random(SEED), over.signal);
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
  await expect
    .poll(async () => [...(await storedOrders(cluster)).values()].every(hasTicked), SOON)
    .toBe(true);
  for (const id of ORDERS) await orders.quiet(id);
  const state = async () => {
    const [timers] = await cluster.served.database.sql(
      'SELECT count(next_ms)::int AS pending FROM svc.timer',
    );
    const all = [...(await storedOrders(cluster)).values()];
    return {
      pending: timers!['pending'] as number,
      open: all.reduce((sum, { open }) => sum + open.size, 0),
      unnoted: all.reduce((sum, { unnoted }) => sum + unnoted, 0),
    };
  };
  await expect.poll(state, SOON).toEqual({ pending: 0, open: 0, unnoted: 0 });
  const stored = await storedOrders(cluster);
  const numbers = [...stored.values()].flatMap(({ placed: all }) => [...all]);
  const [timers] = await cluster.served.database.sql('SELECT count(*)::int AS dead FROM svc.timer');
  expect(timers!['dead']).toBe(numbers.filter(isDoomed).length);
  for (const [id, number] of orders.placed)
    expect([id, stored.get(id)!.placed.size]).toEqual([id, number]);
  const counts = new Map([...stored].map(([id, order]) => [id, order.counts]));
  for (const node of [a!, d]) await expect.poll(() => orders.rows(node), SOON).toEqual(counts);
  await cluster.served.checkNumbers();
}, 600_000);

function hasTicked({ counts }: StoredOrder): boolean {
  return counts.ticks > 0;
}
