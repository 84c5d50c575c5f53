// CartLoad: callers of a service of shopping carts, and the model in which they note how their requests went.
import assert from 'node:assert/strict';
import { Random } from '../random.ts';
import { type CartAnswer, type CartClient, itemsIn } from './cart-client.ts';
import { CartModel, type CartRequest, skuOf } from './cart-model.ts';

export const CARTS = Array.from({ length: 12 }, (_, index) => `cart-${index}`);
const LANES_PER_CART = 2;

export interface LoadCounts {
  answered: number;
  unanswered: number;
  /** Repeats with an idempotency key, of requests that had been answered. */
  repeated: number;
}

/** How a request went. `broken`: the connection ended without an answer. */
export type Outcome = 'answered' | 'refused' | 'uncertain' | 'broken';

/** Returns the meaning of a failure; undefined: the service must not answer that. */
export type Judge = (failure: CartAnswer) => 'refused' | 'uncertain' | undefined;

/** A caller of one cart, which makes one request after the other. */
export interface Lane {
  readonly cart: string;
  readonly number: number;
  readonly random: Random;
}

export class CartLoad {
  readonly model = new CartModel();
  readonly #counts: LoadCounts;
  readonly #judge: Judge;
  #lastNumber = 0;
  #lastLane = 0;

  constructor(counts: LoadCounts, judge: Judge) {
    this.#counts = counts;
    this.#judge = judge;
  }

  /** Returns new lanes for all carts. Requests that earlier lanes have left unanswered may be repeated after those of the new ones. */
  lanes(random: Random): readonly Lane[] {
    return CARTS.flatMap((cart) =>
      Array.from({ length: LANES_PER_CART }, () => ({
        cart,
        number: ++this.#lastLane,
        random: new Random(random.below(2 ** 31)),
      })),
    );
  }

  /** Returns the next request of a lane. */
  request({ cart, number: lane, random }: Lane): CartRequest {
    const number = ++this.#lastNumber;
    return {
      number,
      cart,
      lane,
      kind: random.chance(8) ? 'remove' : 'add',
      key: random.chance(60) ? `request-${number}` : undefined,
    };
  }

  /** Makes a request, and notes how it went. Throws when the answer breaks a rule. */
  async ask(client: CartClient, request: CartRequest): Promise<Outcome> {
    const { model } = this;
    model.sent(request);
    let answer: CartAnswer;
    try {
      answer = await client.ask(request);
    } catch {
      model.uncertain(request);
      this.#counts.unanswered++;
      return 'broken';
    }
    const { status, text } = answer;
    if (status !== 200 && status !== 204) {
      const outcome = this.#judge(answer);
      assert(outcome !== undefined, `request ${request.number}: ${status} ${text}`);
      model[outcome](request);
      return outcome;
    }
    const repeats = model.repeated;
    model.answeredWith(request, `${status} ${text}`);
    if (model.repeated > repeats) this.#counts.repeated++;
    else this.#counts.answered++;
    if (request.kind === 'add')
      assert(itemsIn(text).includes(skuOf(request)), `${skuOf(request)} is not in the reply to it`);
    return 'answered';
  }
}
