// HeldPort listens on the service's port while no shard does, and answers 503 with a Retry-After header. It is the
// only code of the main thread that answers the service's callers, so it does as little as possible: it reads no
// address, header or body, and cuts connections that send no complete request in time.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Address } from './shard-messages.ts';

const CONNECTIONS_MAX = 100;
/** Time limit for receiving a whole request, in milliseconds. */
const REQUEST_TIMEOUT_MS = 5_000;
const HEADER_BYTES_MAX = 16 * 1024;
const BODY = JSON.stringify({
  status: 503,
  error: 'The service is being started again (SVC_SHARD_FAILED). Nothing was done: try again.',
});

export class HeldPort {
  readonly #requestTimeoutMs: number;
  /** Resolves once the server listens, or with undefined if it cannot. */
  #held: Promise<Server | undefined> | undefined;
  /** When a shard is expected back, in milliseconds of `performance.now()`. */
  #backAtMs = 0;

  constructor(requestTimeoutMs = REQUEST_TIMEOUT_MS) {
    this.#requestTimeoutMs = requestTimeoutMs;
  }

  /** Holds the port until it is released. A shard is expected back after `pauseMs`. */
  hold(address: Address, pauseMs: number): void {
    this.#backAtMs = performance.now() + pauseMs;
    this.#held ??= this.#listen(address);
  }

  /** Resolves once another server can listen on the port. */
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
    // The code is loaded only when it is needed, after a shard has ended.
    const { createServer } = await import('node:http');
    const server = createServer({
      maxHeaderSize: HEADER_BYTES_MAX,
      requestTimeout: this.#requestTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, this.#requestTimeoutMs),
      requireHostHeader: false,
    });
    server.maxConnections = CONNECTIONS_MAX;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      // Closing a connection before its body was read may lose the response.
      request.once('end', () => this.#answer(response));
      request.resume();
    });
    // A client that sends `Expect: 100-continue` gets the answer before it sends its body.
    server.on('checkContinue', (_request, response: ServerResponse) => this.#answer(response));
    server.on('clientError', (_error, socket) => socket.destroy());
    const { promise, resolve } = Promise.withResolvers<Server | undefined>();
    server.once('listening', () => resolve(server));
    // Without a server, connections are refused. The restarted shard reports it if another program has the port.
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
