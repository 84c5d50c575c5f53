// OrderLoad places orders (test/support/crash/followed-orders.ts) at several nodes, with keys, and repeats what has failed. It reads the rows of the view
// at other nodes, and at the end compares rows, consumed events and timers with what was placed.
//
// Invariant: a placement counts once it was answered, and its row was read after it.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import {
  isDoomed,
  storedOrder,
  type OrderCounts,
  type StoredOrder,
} from '../crash/followed-orders.ts';
import type { ServedDatabase } from '../postgres/served-database.ts';
import type { Random } from '../random.ts';

export interface OrderNode {
  readonly name: string;
  readonly url: string;
}

export interface OrderLoadOptions {
  /** Ids of the orders. Each has a caller of its own. */
  readonly orders: readonly string[];
  readonly nodes: readonly OrderNode[];
  readonly random: Random;
  /** Ends the attempts that are under way. */
  readonly isOver: AbortSignal;
  /** Pause of a caller between two requests. */
  readonly pauseMs?: number;
  /** A request without an answer for so long is repeated. */
  readonly timeoutMs?: number;
}

/** How far views, consumers and timers are behind. */
export interface Behind {
  readonly timers: number;
  readonly deadlines: number;
  readonly events: number;
}

const DEFAULTS = { pauseMs: 50, timeoutMs: 30_000 };
const DELAY_MS_MAX = 2_000;
const DELAY_STEP_MS = 470;

export class OrderLoad {
  /** The nodes that requests are sent to. */
  live: readonly OrderNode[];
  /** Number of placements of each order. */
  readonly placed: Map<string, number>;
  /** Reads of rows that were answered by another node than the one that placed the order. */
  readElsewhere = 0;
  readonly #options: OrderLoadOptions & typeof DEFAULTS;
  #isEnding = false;

  constructor(options: OrderLoadOptions) {
    this.#options = { ...DEFAULTS, ...options };
    this.live = options.nodes;
    this.placed = new Map(options.orders.map((id) => [id, 0]));
  }

  /** Places orders until `end` is called. Rejects if an answer is wrong. */
  async run(): Promise<void> {
    await Promise.all(this.#options.orders.map((id) => this.#caller(id)));
  }

  end(): void {
    this.#isEnding = true;
  }

  /** Sends requests for a node to another URL. */
  setUrl(name: string, url: string): void {
    this.live = this.live.map((node) => (node.name === name ? { name, url } : node));
  }

  /** Cancels the recurring timers, so that timers come to an end. */
  async quiet(): Promise<void> {
    for (const id of this.#options.orders)
      await this.#answer(({ url }) => [`${url}/orders/${id}/quiet`, { method: 'POST' }], 204);
  }

  /** Returns the rows of a node. */
  async rows(node: OrderNode): Promise<ReadonlyMap<string, OrderCounts>> {
    const { text } = await this.#answer(({ url }) => [`${url}/orders/rows`, {}], 200, node);
    return rowsIn(text);
  }

  /** Reads what is stored of all orders. Throws if an event is there twice, or was not consumed once and in order. */
  async stored(served: ServedDatabase): Promise<ReadonlyMap<string, StoredOrder>> {
    const orders = new Map<string, StoredOrder>();
    for (const id of this.#options.orders) {
      // The mirror first: it notes events while the order is read.
      const mirror = await served.records({ component: 'mirror', id });
      const order = await served.records({ component: 'order', id });
      orders.set(id, storedOrder(id, order, mirror));
    }
    return orders;
  }

  /** Returns how much has not followed yet. Throws as `stored` does. */
  async behind(served: ServedDatabase): Promise<Behind> {
    const [row] = await served.database.sql('SELECT count(next_ms)::int AS timers FROM svc.timer');
    const all = [...(await this.stored(served)).values()];
    return {
      timers: row!['timers'] as number,
      deadlines: all.reduce((sum, { open }) => sum + open.size, 0),
      events: all.reduce((sum, { unnoted }) => sum + unnoted, 0),
    };
  }

  /** Throws if a placement was lost, or a timer that always fails is not dead. To be called once nothing is behind. Returns the counts of the orders. */
  async check(served: ServedDatabase): Promise<ReadonlyMap<string, OrderCounts>> {
    const stored = await this.stored(served);
    const numbers = [...stored.values()].flatMap(({ placed }) => [...placed]);
    const [row] = await served.database.sql('SELECT count(*)::int AS dead FROM svc.timer');
    assert.equal(row!['dead'], numbers.filter(isDoomed).length, 'timers that have died');
    for (const [id, number] of this.placed)
      assert.equal(stored.get(id)!.placed.size, number, `placements of ${id}`);
    return new Map([...stored].map(([id, order]) => [id, order.counts]));
  }

  async #caller(id: string): Promise<void> {
    for (let number = 1; !this.#isEnding; number++) {
      // oxlint-disable-next-line no-await-in-loop -- a caller sends one request at a time
      const { node, position } = await this.#place(id, number);
      this.placed.set(id, number);
      // oxlint-disable-next-line no-await-in-loop -- a caller sends one request at a time
      const read = await this.#answer(
        ({ url }) => [`${url}/orders/rows`, { headers: { 'svc-after': position } }],
        200,
      );
      const row = rowsIn(read.text).get(id);
      if (row?.placed !== number)
        throw new Error(
          `${read.node} has ${JSON.stringify(row)} after the placement ${number} of ${id}`,
        );
      if (read.node !== node) this.readElsewhere++;
      // oxlint-disable-next-line no-await-in-loop -- a caller sends one request at a time
      await pause(this.#options.pauseMs);
    }
  }

  /** Places an order with a key, so that it may be repeated. */
  async #place(id: string, number: number): Promise<{ node: string; position: string }> {
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
    const { node, headers } = await this.#answer(({ url }) => [`${url}/orders/${id}`, init], 204);
    return { node, position: headers.get('svc-position')! };
  }

  /** Asks the live nodes, or one of them, until one answers. Rejects if it answers with anything but `status`, 503 or 504. */
  async #answer(
    requestTo: (node: OrderNode) => readonly [url: string, init: RequestInit],
    status: number,
    only?: OrderNode,
  ): Promise<{ readonly node: string; readonly headers: Headers; readonly text: string }> {
    const { isOver, random, timeoutMs, pauseMs } = this.#options;
    let last: unknown;
    while (!isOver.aborted) {
      const node = only ?? random.pick(this.live);
      const [url, init] = requestTo(node);
      const signal = AbortSignal.any([isOver, AbortSignal.timeout(timeoutMs)]);
      try {
        // oxlint-disable-next-line no-await-in-loop -- an attempt follows the other
        const response = await fetch(url, { ...init, signal });
        // oxlint-disable-next-line no-await-in-loop -- an attempt follows the other
        const text = await response.text();
        if (response.status === status) return { node: node.name, headers: response.headers, text };
        last = `${response.status} of ${node.name}: ${text}`;
        if (response.status !== 503 && response.status !== 504) break;
      } catch (error) {
        // The node was killed, or does not answer in time.
        last = error;
      }
      // oxlint-disable-next-line no-await-in-loop -- an attempt follows the other
      await pause(pauseMs);
    }
    throw new Error(`the last attempt has failed: ${String(last)}`, { cause: last });
  }
}

function rowsIn(text: string): ReadonlyMap<string, OrderCounts> {
  const { rows } = JSON.parse(text) as { rows: ({ id: string } & OrderCounts)[] };
  return new Map(rows.map(({ id, ...counts }) => [id, counts]));
}
