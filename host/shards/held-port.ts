// HeldPort: answers on the service's port while no shard listens there: 503, and when to try again. It is
// all that the main thread says to callers, so it does as little as it can: it looks at no address, header
// or body, and a connection that does not come to its point is cut.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Address } from './shard-messages.ts';

const CONNECTIONS_MAX = 100;
/** For a whole request to arrive. */
const REQUEST_TIMEOUT_MS = 5_000;
const HEADER_BYTES_MAX = 16 * 1024;
const BODY = JSON.stringify({
  status: 503,
  error: 'The service is being started again (SVC_SHARD_FAILED). Nothing was done: try again.',
});

export class HeldPort {
  readonly #requestTimeoutMs: number;
  /** Settles once the server listens, or cannot. */
  #held: Promise<Server | undefined> | undefined;
  #backAtMs = 0;

  constructor(requestTimeoutMs = REQUEST_TIMEOUT_MS) {
    this.#requestTimeoutMs = requestTimeoutMs;
  }

  /** Holds the port until it is released; `pauseMs` from now a shard is expected back. */
  hold(address: Address, pauseMs: number): void {
    this.#backAtMs = performance.now() + pauseMs;
    this.#held ??= this.#listen(address);
  }

  /** Resolves once another can listen on the port. */
  async release(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    const server = await held;
    if (server === undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    server.close(() => resolve());
    server.closeAllConnections();
    await promise;
  }

  async #listen({ host, port }: Address): Promise<Server | undefined> {
    // It is needed when a shard has ended, and not before.
    const { createServer } = await import('node:http');
    const server = createServer({
      maxHeaderSize: HEADER_BYTES_MAX,
      requestTimeout: this.#requestTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, this.#requestTimeoutMs),
      requireHostHeader: false,
    });
    server.maxConnections = CONNECTIONS_MAX;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      // A connection that is closed with a body unread may lose the answer on its way.
      request.once('end', () => this.#answer(response));
      request.resume();
    });
    // The body is not sent before it is asked for.
    server.on('checkContinue', (_request, response: ServerResponse) => this.#answer(response));
    server.on('clientError', (_error, socket) => socket.destroy());
    const { promise, resolve } = Promise.withResolvers<Server | undefined>();
    server.once('listening', () => resolve(server));
    // Callers are refused then; whoever listens there is found by the shard that comes back.
    server.on('error', () => resolve(undefined));
    server.listen(port, host);
    return promise;
  }

  #answer(response: ServerResponse): void {
    const retryAfter = Math.max(1, Math.ceil((this.#backAtMs - performance.now()) / 1000));
    response.writeHead(503, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(BODY),
      'retry-after': String(retryAfter),
      connection: 'close',
    });
    response.end(BODY);
  }
}
