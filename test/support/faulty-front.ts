// FaultyFront stands before a control plane and its registry: it passes requests on, except those that a test lets fail.
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What becomes of a request: it is passed on, its connection is cut, it gets no answer, or it is answered with a status. */
export type Fate = 'pass' | 'cut' | 'hang' | number;

export class FaultyFront implements AsyncDisposable {
  /** Decides about a request such as `GET /services/shop/cart`. */
  fate: (line: string) => Fate = () => 'pass';
  /** URL of the server for requests to names that begin with `registry.`. */
  registry: string | undefined;
  readonly #server = createServer((incoming, response) => void this.#take(incoming, response));
  /** URL of the control plane. */
  target: string;

  private constructor(target: string) {
    this.target = target;
  }

  static async open(target: string): Promise<FaultyFront> {
    const front = new FaultyFront(target);
    front.#server.listen(0, '127.0.0.1');
    await once(front.#server, 'listening');
    return front;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #take(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = incoming;
    const fate = this.fate(`${method} ${url.split('?')[0]}`);
    if (fate === 'hang') return;
    if (fate === 'cut') return void response.destroy();
    if (typeof fate === 'number')
      return void response
        .writeHead(fate, { 'content-type': 'application/json' })
        .end(JSON.stringify({ status: fate, error: 'it fails' }));
    const isForRegistry = headers.host?.startsWith('registry.') === true;
    const target = isForRegistry ? (this.registry ?? this.target) : this.target;
    const outgoing = request(new URL(url, target), { method, headers, agent: false });
    incoming.pipe(outgoing);
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    response.writeHead(answer.statusCode!, answer.headers);
    answer.pipe(response);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
