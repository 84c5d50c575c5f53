// A neighbour of hostile modules: it counts, one request after the other, for as long as they attack, and
// each of its requests must succeed with the number that comes next. It waits for no time, only for answers.
import { send } from './send.ts';

export class Neighbour {
  count = 0;
  readonly #address: string;
  #running = true;
  readonly #counted = Promise.withResolvers<void>();
  readonly #done: Promise<void>;

  /** `address`: a POST there counts up and answers the number, or a record that has it as `value`. */
  constructor(address: string) {
    this.#address = address;
    this.#done = this.#run();
    this.#done.catch(() => {});
  }

  async #run(): Promise<void> {
    while (this.#running) {
      const { status, text } = await send(this.#address, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"amount":1}',
      });
      if (status !== 200)
        throw new Error(`the neighbour got ${status} ${text} after ${this.count}`);
      const answer = JSON.parse(text) as number | { value: number };
      const value = typeof answer === 'number' ? answer : answer.value;
      if (value !== this.count + 1)
        throw new Error(`the neighbour counted ${this.count + 1}, and the service ${value}`);
      this.count = value;
      this.#counted.resolve();
    }
  }

  /** Resolves once it has counted to 1. Rejects when it did not come so far. */
  async begun(): Promise<void> {
    await Promise.race([this.#counted.promise, this.#done]);
  }

  /** Rejects when any request of it did not succeed. */
  async stop(): Promise<number> {
    this.#running = false;
    await this.#done;
    return this.count;
  }
}
