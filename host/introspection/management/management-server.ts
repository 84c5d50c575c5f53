// ManagementServer is the HTTP server of a deployed instance for operators, on a port of its own: readiness,
// liveness, version, metrics and cluster. Anyone who reaches the port may ask, so no request changes anything or
// reaches a module, and clients get little: few connections, a short time, and no body is read.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressNames, listen } from '@svc/kit/listen';
import type { ClusterMembers } from './cluster-members.ts';
import type { ReadinessReport } from './readiness.ts';

/** Data that the server reports. All of it is available on the main thread, so no request waits for a shard. */
export interface ManagedNode {
  readonly version: string;
  readonly readiness: () => ReadinessReport;
  /** Returns the metrics in Prometheus' text exposition format. */
  readonly metrics: () => string;
  readonly members: () => ClusterMembers;
}

export interface ManagementOptions {
  /** Called with an error that prevented an answer. */
  readonly onBug: (error: unknown) => void;
  /**
   * Limit for receiving a whole request, and between two requests, in milliseconds. A connection without traffic is
   * closed after twice this time.
   */
  readonly timeoutMs?: number;
}

interface ManagementAddress {
  readonly host: string;
  readonly port: number;
  /** A socket that is bound already, by its file descriptor; host and port are then its own. Absent: a new one is opened. */
  readonly fd?: number;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

const CONNECTIONS_MAX = 100;
const TIMEOUT_MS = 5_000;
const HEADER_BYTES_MAX = 16 * 1024;
const METHODS = ['GET', 'HEAD'];
const JSON_TYPE = 'application/json';
/** Prometheus' text format. OpenMetrics allows no counter that decreases, as the counters of the window do. */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const MEMBERS_PATH = '/cluster/members';

export class ManagementServer {
  readonly #node: ManagedNode;
  readonly #server: Server;
  readonly #onBug: (error: unknown) => void;

  constructor(node: ManagedNode, { onBug, timeoutMs = TIMEOUT_MS }: ManagementOptions) {
    this.#node = node;
    this.#onBug = onBug;
    this.#server = createServer({
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: timeoutMs,
      requestTimeout: timeoutMs,
      keepAliveTimeout: timeoutMs,
      connectionsCheckingInterval: Math.min(1_000, timeoutMs / 4),
    });
    this.#server.maxConnections = CONNECTIONS_MAX;
    // Closes the connection of a client that does not read its answer. A client that sends its request too slowly
    // receives an answer before that, because `requestTimeout` is shorter.
    this.#server.setTimeout(2 * timeoutMs);
    this.#server.on('request', (request: IncomingMessage, response: ServerResponse) =>
      this.#serve(request, response),
    );
  }

  /**
   * Resolves with the address; rejects with SVC_PORT_IN_USE or SVC_ADDRESS_UNAVAILABLE, which name the `settings` of
   * the address.
   */
  async listen(address: ManagementAddress, settings: AddressNames): Promise<ManagementAddress> {
    const words = { server: 'the management server', settings };
    const bound = await listen(this.#server, address, words);
    // Emitted for a connection that cannot be accepted, for example because the process may open no more files.
    this.#server.on('error', this.#onBug);
    return bound;
  }

  /** Closes the server and all connections: a scraper would keep its connection open for long. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await promise;
  }

  #serve({ method, url }: IncomingMessage, response: ServerResponse): void {
    const known = this.#answerTo(url!.split('?', 1)[0]!);
    const isAllowed = METHODS.includes(method!);
    let answer: Answer;
    try {
      answer =
        known === undefined || isAllowed
          ? (known?.() ?? refusal(404, 'There is nothing at this path of the management server.'))
          : refusal(405, `${method} is not allowed here.`);
    } catch (error) {
      this.#onBug(error);
      answer = refusal(500, 'The answer could not be made. The log has the reason.');
    }
    response.writeHead(answer.status, {
      'content-type': answer.type,
      'content-length': Buffer.byteLength(answer.text),
      'cache-control': 'no-store',
      ...(answer.status === 405 ? { allow: METHODS.join(', ') } : {}),
      // The request may have a body, which is not read, so the connection cannot be reused.
      ...(isAllowed ? {} : { connection: 'close' }),
    });
    response.end(answer.text);
  }

  /** Returns a function that makes the answer; undefined if there is nothing at this path. */
  #answerTo(path: string): (() => Answer) | undefined {
    const node = this.#node;
    switch (path) {
      case '/ready':
        return () => {
          const report = node.readiness();
          return json(report.ready ? 200 : 503, report);
        };
      case '/alive':
        return () => json(200, { alive: true });
      case '/svc/version':
        return () => json(200, { version: node.version });
      case '/svc/metrics':
        return () => ({ status: 200, type: METRICS_TYPE, text: node.metrics() });
      case MEMBERS_PATH:
        return () => json(200, node.members());
      default:
        return path.startsWith(`${MEMBERS_PATH}/`)
          ? () => this.#member(path.slice(MEMBERS_PATH.length + 1))
          : undefined;
    }
  }

  #member(encoded: string): Answer {
    const member = this.#node
      .members()
      .members.find(({ node }) => node === encoded || encodeURIComponent(node) === encoded);
    return member === undefined
      ? refusal(404, `No node of the cluster has this address. ${MEMBERS_PATH} lists them.`)
      : json(200, member);
  }
}

function json(status: number, body: object): Answer {
  return { status, type: JSON_TYPE, text: JSON.stringify(body) };
}

function refusal(status: number, error: string): Answer {
  return json(status, { status, error });
}
