// HttpServer owns the listening socket and the server's lifecycle: it listens, lets @svc/http1 serve the connections, hands
// each request to an Exchange, and stops.
import { createServer, type Server, type Socket } from 'node:net';
import { ServerConnections, serveListener, Sweep } from '@svc/http1';
import type { RandomSource } from '../engine/needs/clock.ts';
import { type RequestBudgets, requestBudgets } from '@svc/model/request-budgets';
import { listen, type ListenAddress, listenOnUnixSocket, type ListenWords } from '@svc/kit/listen';
import type { Caller, RefusedPeer } from './access.ts';
import type { RequestTokens } from './bearer.ts';
import { Cors } from './cors.ts';
import { checkCorsSettings, CORS_SETTINGS_DEFAULT, type CorsSettings } from './cors-settings.ts';
import { exchangeHandler } from './exchange-handler.ts';
import type { EndpointHandler, Load } from './exchange-parts.ts';
import { httpDate } from './http-date.ts';
import type { HttpLog } from './http-log.ts';
import { type HttpObserver, NO_OBSERVER } from './http-observer.ts';
import {
  checkHttpSettings,
  connectionLimits,
  connectionTimes,
  type HttpSettings,
  rateTimes,
  sweepMs,
} from './http-settings.ts';
import type { MutualTls } from './mutual-tls.ts';
import { RESPONSE_FORM_DEFAULT, type ResponseForm } from './response-form.ts';
import { ResponseRates } from './response-rates.ts';
import type { ServerCertificate } from '@svc/identity/server-certificate';
import { ownLimits, type RequestLimits } from './request-limits.ts';
import type { RouteTable } from './route-table.ts';

export interface HttpServerOptions {
  readonly routes: RouteTable;
  readonly handle: EndpointHandler;
  /** Whether handlers read bodies themselves. Absent: a body is read before its handler runs. */
  readonly readsBodies?: boolean | undefined;
  readonly settings: HttpSettings;
  /** Absent: responses have no headers in common, and errors say all that they can. */
  readonly form?: ResponseForm | undefined;
  /** Absent: no page of another origin may read an answer. */
  readonly cors?: CorsSettings;
  readonly log: HttpLog;
  /** Source of new trace ids and error ids. */
  readonly random: RandomSource;
  /** Identifies the caller at the other end of a connection; it may look at the connection only. */
  readonly callerOf: (socket: Socket) => Caller | RefusedPeer;
  /** Serves with mutual TLS; absent: without TLS. */
  readonly tls?: MutualTls | undefined;
  /** Serves with TLS, and asks clients for no certificate; not together with `tls`. */
  readonly certificate?: ServerCertificate | undefined;
  /** The service's own project; absent on a developer's machine. */
  readonly project?: string;
  /** Verifies access tokens; absent: routes that ask for one are closed. */
  readonly tokens?: RequestTokens | undefined;
  /** Limits whose buckets other servers of the service use too; absent: this server has buckets of its own. */
  readonly limits?: RequestLimits | undefined;
  /** Whether responses of the handler have the header Svc-Position, which they have if the service has views; absent: they have not. */
  readonly hasPosition?: boolean;
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
   * Serves the connections of a Unix domain socket, which is bound already, like those of the address. `fd`: its file descriptor. Rejects with
   * SVC_ADDRESS_UNAVAILABLE.
   */
  listenOn(fd: number): Promise<void>;
  /**
   * Accepts no further connection, finishes the requests in flight, and cuts the rest after `graceMs` milliseconds. With
   * mutual TLS a connection that idles is served one more request within a second; otherwise it closes at once. Resolves
   * when every connection is closed, with whether something was cut. A second call waits for the first.
   */
  stop(graceMs?: number): Promise<{ readonly hasCut: boolean }>;
  /** Requests whose answer or handler is not finished. */
  readonly inFlight: number;
}

const STOP_GRACE_MS = 10_000;

/** Creates a server. Throws SVC_SETTING_INVALID. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { settings, routes, cors = CORS_SETTINGS_DEFAULT, tls, certificate } = options;
  checkHttpSettings(settings);
  checkCorsSettings(cors);
  const load: Load = { inFlight: 0, isStopping: false };
  const budgets = options.budgets ?? requestBudgets(settings);
  const handler = exchangeHandler({
    routes,
    handle: options.handle,
    readsBodies: options.readsBodies ?? false,
    settings,
    form: options.form ?? RESPONSE_FORM_DEFAULT,
    cors: Cors.of(cors, routes),
    log: options.log,
    random: options.random,
    callerOf: options.callerOf,
    date: httpDate,
    project: options.project,
    tokens: options.tokens,
    limits: options.limits ?? ownLimits(routes, settings),
    hasPosition: options.hasPosition ?? false,
    ...(options.observer ?? NO_OBSERVER),
    budgets,
    load,
  });
  const times = connectionTimes(settings, tls && (() => tls.lifetimeMs()));
  const connections = new ServerConnections({
    handler,
    limits: connectionLimits(settings),
    times,
    sweep: new Sweep(sweepMs(times)),
    announcesIdleTime: true,
  });
  const rates = new ResponseRates(rateTimes(settings), connections, budgets.unsent);
  const listener = listenerOf(connections, tls, certificate);
  const further: Server[] = [];
  let stopped: ReturnType<HttpServer['stop']> | undefined;

  const stop = async (graceMs: number): ReturnType<HttpServer['stop']> => {
    const closed = Promise.all([listener, ...further].map(closedOf));
    let hasCut = false;
    const timer = setTimeout(() => (hasCut = connections.cut()), graceMs);
    connections.stop();
    // Other services keep connections, and may have sent a request before they learn of the stop.
    if (tls !== undefined) await settled(closed, Math.min(graceMs, times.retiredIdleMs));
    load.isStopping = true;
    (tls ?? certificate)?.cutHandshakes();
    connections.closeIdle();
    await closed;
    clearTimeout(timer);
    rates.stop();
    return { hasCut };
  };
  return {
    listen: (address, words = WORDS) => listen(listener, address, words),
    listenOn: async (fd) => {
      const server = createServer({ allowHalfOpen: true });
      server.maxConnections = connections.limits.connectionsMax;
      server.on('connection', (socket: Socket) => listener.emit('connection', socket));
      further.push(server);
      await listenOnUnixSocket(server, fd);
    },
    stop: (graceMs = STOP_GRACE_MS) => (stopped ??= stop(graceMs)),
    get inFlight() {
      return load.inFlight;
    },
  };
}

/** Makes the server whose connections are served. */
function listenerOf(
  connections: ServerConnections,
  tls: MutualTls | undefined,
  certificate: ServerCertificate | undefined,
): Server {
  if (tls === undefined) {
    const listener = certificate?.createServer() ?? createServer();
    serveListener(listener, connections);
    return listener;
  }
  const listener = tls.createServer();
  serveListener(listener, connections);
  tls.watch(listener, connections);
  return listener;
}

/** Resolves when a promise is fulfilled, at the latest after `ms` milliseconds. */
async function settled(promise: Promise<unknown>, ms: number): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([promise, over]);
  clearTimeout(timer);
}

/** Resolves when the last connection is closed. A server that never listened is closed. */
function closedOf(listener: Server): Promise<void> {
  return new Promise((resolve) => {
    listener.close(() => resolve());
  });
}
