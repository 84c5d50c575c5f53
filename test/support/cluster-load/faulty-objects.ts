// FaultyObjects is a server of registers and counters in this process, with the routes of fixtures/concurrent-objects. It fails with 503 and 504 and
// breaks connections, as a service may, and has one fault on request that no service may have.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import type { Random } from '../random.ts';

export type Fault =
  | 'reads a former state'
  | 'loses a write'
  | 'executes a write twice'
  | 'executes a write that it refuses with 503'
  | 'executes a write again that was answered with 504'
  | 'forgets keys'
  | 'executes keys with another input'
  | 'forgets deletions';

interface StoredReply {
  readonly body: string;
  readonly value: number;
}

/** In percent of the requests. */
const FAILURES = 15;
const FAULTS = 50;

export class FaultyObjects {
  readonly #server: Server;
  readonly #random: Random;
  readonly #fault: Fault | undefined;
  readonly #values = new Map<string, number>();
  readonly #former = new Map<string, number>();
  readonly #replies = new Map<string, StoredReply>();

  /** Listens on a free port of 127.0.0.1. */
  static async start(random: Random, fault?: Fault): Promise<FaultyObjects> {
    const objects = new FaultyObjects(random, fault);
    objects.#server.listen(0, '127.0.0.1');
    await once(objects.#server, 'listening');
    return objects;
  }

  private constructor(random: Random, fault: Fault | undefined) {
    this.#random = random;
    this.#fault = fault;
    this.#server = createServer((incoming, response) => void this.#serve(incoming, response));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(incoming);
    const answer = (status: number, value?: number) => {
      response.statusCode = status;
      response.end(JSON.stringify({ value }));
    };
    if (!this.#random.chance(FAILURES)) {
      const value = this.#execute(incoming, body);
      answer(value === undefined ? 422 : 200, value);
      return;
    }
    const failure = this.#random.below(3);
    if (failure === 0) {
      if (this.#has('executes a write that it refuses with 503')) this.#execute(incoming, body);
      answer(503);
      return;
    }
    const isDone = this.#random.chance(50);
    if (isDone) this.#execute(incoming, body);
    if (isDone && this.#has('executes a write again that was answered with 504'))
      this.#change(incoming, body);
    if (failure === 1) answer(504);
    else incoming.socket.destroy();
  }

  /** Returns the answer; undefined if the key was used with another input. */
  #execute({ method, url, headers }: IncomingMessage, body: string): number | undefined {
    const header = headers['idempotency-key'];
    const key = header === undefined ? undefined : `${method} ${url} ${String(header)}`;
    const stored = key === undefined ? undefined : this.#replies.get(key);
    const isSame = stored?.body === body;
    if (stored !== undefined && isSame && !this.#has('forgets keys')) return stored.value;
    if (stored !== undefined && !isSame && this.#fault !== 'executes keys with another input')
      return undefined;
    const value = this.#change({ method, url }, body);
    if (key !== undefined) this.#replies.set(key, { body, value });
    return value;
  }

  #change({ method, url }: Pick<IncomingMessage, 'method' | 'url'>, body: string): number {
    const entity = url!;
    const now = this.#values.get(entity) ?? 0;
    if (method === 'GET')
      return this.#has('reads a former state') ? (this.#former.get(entity) ?? 0) : now;
    const { value = 0, amount } = JSON.parse(body || '{}') as { value?: number; amount?: number };
    let next = amount === undefined ? value : now + amount;
    const answer = next;
    if (this.#has('loses a write')) next = now;
    if (this.#has('executes a write twice')) next += amount ?? 0;
    if (method === 'DELETE' && this.#has('forgets deletions')) next = now;
    this.#former.set(entity, now);
    this.#values.set(entity, next);
    return answer;
  }

  /** True in some cases, if the server has the fault. */
  #has(fault: Fault): boolean {
    return this.#fault === fault && this.#random.chance(FAULTS);
  }
}
