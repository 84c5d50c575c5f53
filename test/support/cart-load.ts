// CartLoad: callers that add items to carts without a pause, each with an idempotency key, while the process that holds the code of the service dies and
// hangs. It knows of each item what the journal may hold of it.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { StoredEvent } from '../../model/entity.ts';
import { CartClient } from './crash/cart-client.ts';
import { type CartRequest, skuOf } from './crash/cart-model.ts';
import type { Random } from './random.ts';

const LANES = 12;
/** Items of a cart, so that its state stays small. */
const ITEMS_PER_CART = 40;
const CARTS = 48;
/** In percent: the refused requests that are not sent again, and the answered ones that are. */
const LEFT = 50;
const REPEATED = 10;
/** Pause after a refusal. */
const PAUSE_MS = 20;

interface Success {
  readonly sentMs: number;
  readonly resolve: (atMs: number) => void;
}

/** Outcome of the requests for one item. */
type Fate = 'answered' | 'refused' | 'uncertain';

export class CartLoad {
  readonly #client: CartClient;
  readonly #random: Random;
  readonly #lanes: readonly Promise<void>[];
  /** Indexed by the numbers of the requests. */
  readonly #fates = new Map<number, Fate>();
  readonly counts = { answered: 0, refused: 0, uncertain: 0, repeated: 0, left: 0 };
  #waiting: Success[] = [];
  #lastNumber = 0;
  #isEnding = false;

  constructor(url: string, random: Random) {
    this.#client = new CartClient(url);
    this.#random = random;
    this.#lanes = Array.from({ length: LANES }, (_, lane) => this.#lane(lane));
  }

  /** Resolves with the time at which a request is answered that is sent from now on. */
  nextAnswer(): Promise<number> {
    return new Promise((resolve) => this.#waiting.push({ sentMs: performance.now(), resolve }));
  }

  /** Resolves when all callers have ended. Rejects if one was answered as it should not be. */
  async end(): Promise<void> {
    this.#isEnding = true;
    await Promise.all(this.#lanes);
    this.#client.close();
  }

  /** Rejects as soon as a caller was answered as it should not be. */
  get failed(): Promise<never> {
    return new Promise((_resolve, reject) => {
      for (const lane of this.#lanes) lane.catch(reject);
    });
  }

  /** Returns in what the journal differs from what was answered. `eventsOf`: reads the events of a cart. */
  complaints(eventsOf: (cart: string) => readonly StoredEvent[]): readonly string[] {
    const applied = new Map<string, number>();
    for (const cart of new Set([...this.#fates.keys()].map(cartOf)))
      for (const { json } of eventsOf(cart)) {
        const { sku } = JSON.parse(json) as { readonly sku: string };
        applied.set(sku, (applied.get(sku) ?? 0) + 1);
      }
    return [...this.#fates].flatMap(([number, fate]) => {
      const times = applied.get(skuOf(requestOf(number, 0))) ?? 0;
      if (times > 1) return [`item ${number} was added ${times} times`];
      if (fate === 'answered' && times === 0) return [`item ${number} was answered, and is lost`];
      if (fate === 'refused' && times === 1) return [`item ${number} was refused, and is there`];
      return [];
    });
  }

  async #lane(lane: number): Promise<void> {
    while (!this.#isEnding) {
      const request = requestOf(++this.#lastNumber, lane);
      // oxlint-disable-next-line no-await-in-loop -- a caller sends one request at a time
      await this.#added(request);
    }
  }

  /** Adds an item, and repeats the request as a caller would. */
  async #added(request: CartRequest): Promise<void> {
    const { number } = request;
    for (;;) {
      const sentMs = performance.now();
      // oxlint-disable-next-line no-await-in-loop -- each repetition follows the answer before
      const { status, text } = await this.#client.ask(request);
      if (status === 200) {
        this.#answered(number, sentMs);
        if (!this.#random.chance(REPEATED)) return;
        // oxlint-disable-next-line no-await-in-loop -- once
        const again = await this.#client.ask(request);
        this.counts.repeated += 1;
        assert(again.status === 503 || again.status === 504 || again.text === text);
        return;
      }
      assert(status === 503 || status === 504, `${status} ${text}`);
      // An attempt that nobody knows the end of stays so, whatever the next one is answered.
      const isRefused = status === 503 && this.#fates.get(number) !== 'uncertain';
      this.#fates.set(number, isRefused ? 'refused' : 'uncertain');
      this.counts[isRefused ? 'refused' : 'uncertain'] += 1;
      // oxlint-disable-next-line no-await-in-loop -- a caller waits before it tries again
      await delay(PAUSE_MS);
      if (this.#isEnding || this.#random.chance(LEFT)) {
        this.counts.left += 1;
        return;
      }
    }
  }

  #answered(number: number, sentMs: number): void {
    this.#fates.set(number, 'answered');
    this.counts.answered += 1;
    const atMs = performance.now();
    const waiting = this.#waiting;
    this.#waiting = waiting.filter((one) => one.sentMs > sentMs);
    for (const one of waiting) if (one.sentMs <= sentMs) one.resolve(atMs);
  }
}

function cartOf(number: number): string {
  return `cart-${number % CARTS}-${Math.floor(number / (CARTS * ITEMS_PER_CART))}`;
}

function requestOf(number: number, lane: number): CartRequest {
  return { number, cart: cartOf(number), lane, kind: 'add', key: `request-${number}` };
}
