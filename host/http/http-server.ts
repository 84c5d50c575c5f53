// HttpServer owns the listening socket and the server's lifecycle: it listens, hands each request to an
// Exchange, and stops. Node's own server serves the connections: the routes belong to a module and are known
// only once it is admitted, so a framework's router, hooks and body parsers would be of no use.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { RandomSource } from '../engine/needs/clock.ts';
import type { Positions } from '../engine/needs/feed.ts';
import { type RequestBudgets, requestBudgets } from '../model/request-budgets.ts';
import { listen, type ListenAddress, type ListenWords } from '@svc/kit/listen';
import type { Caller, RefusedPeer } from './access.ts';
import { breakOff } from './client-error.ts';
import { Connections } from './connections.ts';
import { Cors } from './cors.ts';
import { checkCorsSettings, CORS_SETTINGS_DEFAULT, type CorsSettings } from './cors-settings.ts';
import { Exchange } from './exchange.ts';
import { type EndpointHandler, type ExchangeParts, type Load } from './exchange-parts.ts';
import type { HttpLog } from './http-log.ts';
import { type HttpObserver, NO_OBSERVER } from './http-observer.ts';
import { checkHttpSettings, connectionTimes, type HttpSettings } from './http-settings.ts';
import type { MutualTls } from './mutual-tls.ts';
import { ResponseBatch } from './response-batch.ts';
import type { RouteTable } from './route-table.ts';

export interface HttpServerOptions {
  readonly routes: RouteTable;
  readonly handle: EndpointHandler;
  readonly settings: HttpSettings;
  /** Absent: no page of another origin may read an answer. */
  readonly cors?: CorsSettings;
  readonly log: HttpLog;
  /** Source of new trace ids and error ids. */
  readonly random: RandomSource;
  /** Identifies the caller at the other end of a connection; it may look at the connection only. */
  readonly callerOf: (socket: Socket) => Caller | RefusedPeer;
  /** Serves with mutual TLS; absent: without TLS. */
  readonly tls?: MutualTls | undefined;
  /** The service's own project; absent on a developer's machine. */
  readonly project?: string;
  /** Positions of the journal, for the header Svc-Position; absent if the service has no views. */
  readonly positions?: Positions | undefined;
  /** Observes each request; absent: nothing does. */
  readonly observer?: HttpObserver;
  /** Budgets shared with other servers of the service; absent: this server has all that the settings give. */
  readonly budgets?: RequestBudgets;
}

/** The address of an HTTP server; several servers of a process may share it. */
export type HttpAddress = ListenAddress;

/** Names of the settings in errors of `listen`, unless the caller gives others. */
const WORDS: ListenWords = { settings: { host: '--host', port: '--port' } };

export interface HttpServer {
  /**
   * Listens, and resolves with the actual address. Rejects with SVC_PORT_IN_USE and SVC_ADDRESS_UNAVAILABLE, which name the
   * flags of `svc run` unless `words` name others.
   */
  listen(address: HttpAddress, words?: ListenWords): Promise<HttpAddress>;
  /**
   * Accepts no further request, finishes those in flight, and cuts the rest after `graceMs` milliseconds. Resolves
   * when every connection is closed, with whether something was cut. A second call waits for the first.
   */
  stop(graceMs?: number): Promise<{ readonly hasCut: boolean }>;
  /** Requests whose answer or handler is not finished. */
  readonly inFlight: number;
}

const STOP_GRACE_MS = 10_000;

/** Creates a server. Throws SVC_SETTING_INVALID. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { settings, routes, cors = CORS_SETTINGS_DEFAULT } = options;
  checkHttpSettings(settings);
  checkCorsSettings(cors);
  const load: Load = { inFlight: 0, isStopping: false };
  const budgets = options.budgets ?? requestBudgets(settings);
  const connections = new Connections(connectionTimes(settings), budgets.unsent);
  const observer = options.observer ?? NO_OBSERVER;
  const { tls } = options;
  const parts: ExchangeParts = {
    routes,
    handle: options.handle,
    settings,
    cors: Cors.of(cors, routes),
    log: options.log,
    random: options.random,
    callerOf: options.callerOf,
    isTooOld: tls && ((socket) => tls.hasToClose(socket)),
    project: options.project,
    positions: options.positions,
    ...observer,
    connections,
    batch: new ResponseBatch(() => observer.recorder.nowMs()),
    budgets,
    load,
  };
  const server = createNodeServer(parts, tls);
  let stopped: ReturnType<HttpServer['stop']> | undefined;

  const stop = async (graceMs: number): ReturnType<HttpServer['stop']> => {
    load.isStopping = true;
    const closed = closedOf(server);
    tls?.cutHandshakes();
    connections.close();
    let hasCut = false;
    const timer = setTimeout(() => (hasCut = connections.cut()), graceMs);
    await closed;
    clearTimeout(timer);
    return { hasCut };
  };
  return {
    listen: (address, words = WORDS) => listen(server, address, words),
    stop: (graceMs = STOP_GRACE_MS) => (stopped ??= stop(graceMs)),
    get inFlight() {
      return load.inFlight;
    },
  };
}

function createNodeServer(parts: ExchangeParts, tls: MutualTls | undefined): Server | SecureServer {
  const { settings, connections } = parts;
  const begin =
    (expectsContinue: boolean) => (request: IncomingMessage, response: ServerResponse) =>
      new Exchange(parts, { request, response, target: request.url!, expectsContinue }).run();
  const options = {
    // Connections closes sockets that are idle or stall.
    keepAliveTimeout: 0,
    requestTimeout: settings.requestTimeoutMs,
    maxHeaderSize: settings.headerBytesMax,
    headersTimeout: settings.headersTimeoutMs,
    // Exchange answers a request without a Host header: unlike Node's answer, its answer has a body.
    requireHostHeader: false,
    connectionsCheckingInterval: Math.min(1000, Math.ceil(settings.headersTimeoutMs / 4)),
  };
  const server = tls === undefined ? createServer(options) : tls.createServer(options);
  // With a limit on headers Node would drop the excess silently; the server counts them later.
  server.maxHeadersCount = 0;
  server.maxConnections = settings.connectionsMax;
  // Node takes a connection for idle as soon as an answer was handed to it, and would cut the rest of
  // the answer and those of pipelined requests when the server closes. `Connections` closes them.
  server.closeIdleConnections = () => undefined;
  const accepted = tls === undefined ? 'connection' : 'secureConnection';
  server.prependListener(accepted, (socket: Socket) => connections.accept(socket));
  server.on('request', begin(false));
  server.on('checkContinue', begin(true));
  // Other expectations may be ignored (RFC 9110, 10.1.1).
  server.on('checkExpectation', begin(false));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    breakOff(connections, socket, error, settings);
  });
  return server;
}

/** Resolves when the last connection is closed. A server that never listened is closed. */
function closedOf(server: Server | SecureServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
