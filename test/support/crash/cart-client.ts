// CartClient: callers of one process that serves shopping carts. Its connections end with it: a run of many rounds
// has many processes.
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { type CartRequest, skuOf } from './cart-model.ts';

export interface CartAnswer {
  readonly status: number;
  readonly text: string;
}

export class CartClient {
  readonly #url: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(url: string) {
    this.#url = url;
  }

  /** Rejects when the connection breaks. */
  ask(asked: CartRequest): Promise<CartAnswer> {
    const key = asked.key === undefined ? {} : { 'idempotency-key': asked.key };
    if (asked.kind === 'remove') return this.#send('DELETE', `/carts/${asked.cart}`, key);
    const headers = { 'content-type': 'application/json', ...key };
    const body = JSON.stringify({ sku: skuOf(asked), quantity: 1 });
    return this.#send('POST', `/carts/${asked.cart}/items`, headers, body);
  }

  /** A cart as it is answered. Rejects when the connection breaks. */
  async cart(cart: string): Promise<string> {
    const { status, text } = await this.#send('GET', `/carts/${cart}`, {});
    assert.equal(status, 200, text);
    return text;
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body = '',
  ): Promise<CartAnswer> {
    const answer = Promise.withResolvers<CartAnswer>();
    const options = { method, headers, agent: this.#agent };
    const sent = request(this.#url + path, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('error', answer.reject);
      response.on('end', () => {
        if (response.complete) answer.resolve({ status: response.statusCode!, text });
        else answer.reject(new Error('the answer was cut'));
      });
    });
    sent.on('error', answer.reject);
    sent.end(body);
    return answer.promise;
  }
}

/** Of an answer. Throws where one was added twice. */
export function itemsIn(text: string): readonly string[] {
  const { items } = JSON.parse(text) as { items: { sku: string; quantity: number }[] };
  for (const { sku, quantity } of items) assert.equal(quantity, 1, `${sku} was added twice`);
  return items.map(({ sku }) => sku);
}
