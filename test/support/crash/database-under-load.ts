// DatabaseUnderLoad: a database with the journal of a service of shopping carts, whose callers go on while the service, the server
// or the network between them fails, and repeat requests that have an idempotency key until they are answered.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { Random } from '../random.ts';
import type { ServedDatabase } from '../postgres/served-database.ts';
import { CartClient, itemsIn } from './cart-client.ts';
import type { CartRequest } from './cart-model.ts';
import { CARTS, CartLoad, type Judge, type Lane, type LoadCounts } from './cart-load.ts';

/** The pause before a lane asks again that was not answered, in milliseconds. */
const PAUSE_MS = 50;
/** A service that answers no request for so long, in milliseconds, does not go on by itself. */
const PATIENCE_MS = 60_000;

const judge: Judge = ({ status }) => {
  if (status === 503) return 'refused';
  return status === 504 ? 'uncertain' : undefined;
};

/** Load that goes on until it is ended. */
export interface RunningLoad {
  /** Resolves once so many further requests were answered. Rejects if an answer breaks a rule. */
  answered(count: number): Promise<void>;
  /** Ends the load. Rejects if an answer has broken a rule. */
  end(): Promise<void>;
}

export class DatabaseUnderLoad {
  readonly counts: LoadCounts = { answered: 0, unanswered: 0, repeated: 0 };
  readonly #served: ServedDatabase;
  readonly #callers = new CartLoad(this.counts, judge);
  readonly #random: Random;

  constructor(served: ServedDatabase, seed: number) {
    this.#served = served;
    this.#random = new Random(seed);
  }

  /** Puts a service under load. A lane ends when a connection breaks. */
  start(url: string): RunningLoad {
    const client = new CartClient(url);
    const { counts } = this;
    const ending = new AbortController();
    const failure = Promise.withResolvers<never>();
    const lane = async (of: Lane): Promise<void> => {
      while (!ending.signal.aborted) {
        const request = this.#callers.request(of);
        for (;;) {
          const outcome = await this.#callers.ask(client, request);
          if (outcome === 'broken') return;
          if (outcome === 'answered') break;
          await pause(PAUSE_MS);
          if (request.key === undefined || ending.signal.aborted) break;
        }
      }
    };
    const lanes = Promise.all(this.#callers.lanes(this.#random).map(lane));
    lanes.catch((error: Error) => failure.reject(error));
    failure.promise.catch(() => undefined);
    return {
      async answered(count) {
        const enough = counts.answered + count;
        while (counts.answered < enough) await Promise.race([pause(10), failure.promise]);
      },
      async end() {
        ending.abort();
        await lanes.finally(() => client.close());
      },
    };
  }

  /**
   * Repeats requests that were not answered, and some that were, and compares the journal with what was answered, and the carts of
   * the service with the journal.
   */
  async check(url: string): Promise<void> {
    const client = new CartClient(url);
    const { model } = this.#callers;
    try {
      for (const request of model.toRepeat(() => this.#random.chance(5)))
        await this.#untilAnswered(client, request);
      await this.#served.checkNumbers();
      for (const cart of CARTS) {
        const records = await this.#served.records({ component: 'shopping-cart', id: cart });
        const items = model.check(cart, records);
        const found = itemsIn(await client.cart(cart));
        assert.deepEqual(found, items, `${cart} is not what its journal says`);
      }
    } finally {
      client.close();
    }
  }

  async #untilAnswered(client: CartClient, request: CartRequest): Promise<void> {
    const untilMs = performance.now() + PATIENCE_MS;
    while ((await this.#callers.ask(client, request)) !== 'answered') {
      assert(performance.now() < untilMs, `request ${request.number} is not answered`);
      await pause(PAUSE_MS);
    }
  }
}
